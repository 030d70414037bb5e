import { crc32 } from 'node:zlib';
import { exportPaths, journalName, pathIn } from './export-folder.ts';
import type { FileStore } from './file-store.ts';
import type { OpenFile } from './open-file.ts';

/**
 * An entry of a journal is: body length (u32, little endian), CRC-32 of the rest (u32), key (32 bytes), body. One that is
 * cut or whose checksum is wrong ends the journal: what follows it is dropped.
 */
export interface JournalPlace {
  /** 64 hex digits. */
  readonly key: string;
  /** Where the body begins, in bytes. */
  readonly position: number;
  readonly length: number;
}

const headBytes = 8;
const keyBytes = 32;

/** What stands before the body: that is megabytes, and is written from where it lies. */
export function entryHead(key: string, body: Uint8Array): Uint8Array {
  const head = Buffer.alloc(headBytes + keyBytes);
  head.write(key, headBytes, 'hex');
  head.writeUInt32LE(body.length, 0);
  const ofKey = crc32(head.subarray(headBytes));
  // Of no bytes at all zlib may give 0, whatever came before.
  head.writeUInt32LE(body.length === 0 ? ofKey : crc32(body, ofKey), 4);
  return head;
}

/** The whole entries that a file begins with. */
export async function* readEntries(file: OpenFile): AsyncGenerator<JournalPlace, void, void> {
  const size = await file.size();
  for (let at = 0; ; ) {
    const head = Buffer.from(await file.read(at, headBytes));
    if (head.length < headBytes) return;
    const length = head.readUInt32LE(0);
    if (at + headBytes + keyBytes + length > size) return;
    const rest = Buffer.from(await file.read(at + headBytes, keyBytes + length));
    if (crc32(rest) !== head.readUInt32LE(4)) return;
    yield { key: rest.toString('hex', 0, keyBytes), position: at + headBytes + keyBytes, length };
    at += headBytes + keyBytes + length;
  }
}

/** The answers that an export keeps, to be looked at. */
export interface KeptAnswers {
  find(key: string): Promise<Uint8Array | undefined>;
  size(): number;
}

/** Finds the answers that an export keeps, and changes nothing: a run may be under way. */
export async function readJournals(files: FileStore, folder: string): Promise<KeptAnswers> {
  const places = new Map<string, JournalPlace & { readonly path: string }>();
  for (const name of await files.list(pathIn(folder, exportPaths.journals))) {
    const known = journalName(name);
    if (known === undefined) continue;
    const path = pathIn(folder, exportPaths.journal(known));
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

/** Undefined for a file that is gone: its part was committed meanwhile. */
async function reading<T>(
  files: FileStore,
  path: string,
  read: (file: OpenFile) => Promise<T>,
): Promise<T | undefined> {
  if ((await files.sizeOf(path)) === undefined) return undefined;
  const file = await files.open(path, 'read');
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}
