import { crc32 } from 'node:zlib';
import { pagesFrom } from '../../lib/buffer-pool.ts';
import { minDirectBytes } from './direct-writes.ts';
import { exportPaths, journalPart, pathIn } from '../export/export-folder.ts';
import type { Reads } from '../files/disk.ts';
import type { ReadableFile } from '../files/open-file.ts';

/**
 * An entry of a journal is: body length (u32, little endian), CRC-32 of the rest (u32), key (32 bytes), body. A large body begins
 * at a page, for direct writes. An entry that is cut or whose checksum is wrong ends the journal: what follows it is dropped.
 */
export interface JournalPlace {
  /** 64 hex digits. */
  readonly key: string;
  /** Where the body begins, in bytes. */
  readonly position: number;
  readonly length: number;
}

const headBytes = 40;
const keyFrom = 8;

/** What stands before the body: that is megabytes, and is written from where it lies. */
export function entryHead(key: string, body: Uint8Array): Uint8Array {
  const head = Buffer.alloc(headBytes);
  head.write(key, keyFrom, 'hex');
  head.writeUInt32LE(body.length, 0);
  head.writeUInt32LE(checksum(head.subarray(keyFrom), body), 4);
  return head;
}

function checksum(key: Uint8Array, body: Uint8Array): number {
  const ofKey = crc32(key);
  // Of no bytes at all zlib may give 0, whatever came before.
  return body.length === 0 ? ofKey : crc32(body, ofKey);
}

/** Where the body goes of an entry that begins at `entry`; all in bytes. */
export function bodyAt(entry: number, length: number): number {
  const behindHead = entry + headBytes;
  return length < minDirectBytes ? behindHead : pagesFrom(behindHead);
}

/** Where the next entry begins. */
export function nextEntry({ position, length }: JournalPlace): number {
  return position + length;
}

/** The whole entries that a file begins with. */
export async function* readEntries(file: ReadableFile): AsyncGenerator<JournalPlace, void, void> {
  const size = await file.size();
  for (let at = 0; ; ) {
    const head = Buffer.from(await file.read(at, headBytes));
    if (head.length < headBytes) return;
    const place = await placeOf(file, at, head, size);
    if (place === undefined) return;
    yield place;
    at = nextEntry(place);
  }
}

/** @param size of the file */
async function placeOf(file: ReadableFile, at: number, head: Buffer, size: number): Promise<JournalPlace | undefined> {
  const length = head.readUInt32LE(0);
  const position = bodyAt(at, length);
  if (position + length > size) return undefined;
  const body = await file.read(position, length);
  if (checksum(head.subarray(keyFrom), body) !== head.readUInt32LE(4)) return undefined;
  return { key: head.toString('hex', keyFrom), position, length };
}

/** The answers that an export keeps, to be looked at. */
export interface KeptAnswers {
  find(key: string): Promise<Uint8Array | undefined>;
  size(): number;
}

/**
 * Finds the answers that lie in some folders, and changes nothing: a run may be under way.
 * @param isNeeded whether those of a part count; all do unless it is given
 */
export async function readJournals(
  files: Reads,
  folders: readonly string[],
  isNeeded: (part: number) => boolean = () => true,
): Promise<KeptAnswers> {
  const places = new Map<string, JournalPlace & { readonly path: string }>();
  for (const path of await journalsIn(files, folders, isNeeded)) {
    await reading(files, path, async (file) => {
      for await (const place of readEntries(file)) places.set(place.key, { ...place, path });
    });
  }
  return {
    find: async (key) => {
      const place = places.get(key);
      return place && reading(files, place.path, (file) => file.read(place.position, place.length));
    },
    size: () => places.size,
  };
}

async function journalsIn(
  files: Reads,
  folders: readonly string[],
  isNeeded: (part: number) => boolean,
): Promise<string[]> {
  const paths: string[] = [];
  for (const folder of folders) {
    const parts = (await files.list(pathIn(folder, exportPaths.journals))).flatMap((name) => journalPart(name) ?? []);
    paths.push(...parts.filter(isNeeded).map((part) => pathIn(folder, exportPaths.journal(part))));
  }
  return paths;
}

/** Undefined for a file that is gone: its part was committed meanwhile. */
async function reading<T>(
  files: Reads,
  path: string,
  read: (file: ReadableFile) => Promise<T>,
): Promise<T | undefined> {
  if ((await files.sizeOf(path)) === undefined) return undefined;
  const file = await files.open(path);
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}
