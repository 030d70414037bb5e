import { crc32 } from 'node:zlib';
import { pagesFrom } from '../../lib/buffer-pool.ts';
import { minDirectBytes, type Reads, type ReadableFile, type Disk, type OpenFile } from '../files/disk.ts';
import { exportPaths, journalPart, pathIn } from '../export/export-folder.ts';

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
function entryHead(key: string, body: Uint8Array): Uint8Array {
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
function bodyAt(entry: number, length: number): number {
  const behindHead = entry + headBytes;
  return length < minDirectBytes ? behindHead : pagesFrom(behindHead);
}

/** Where the next entry begins. */
function nextEntry({ position, length }: JournalPlace): number {
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

export interface JournalEntry {
  /** 64 hex digits. */
  readonly key: string;
  /** The part whose ids were requested. */
  readonly part: number;
  readonly body: Uint8Array;
}

/** The answers of the parts that one worker makes, in their order: one file a part, and no other worker opens it. */
export interface Journal {
  /** The body that this run or an earlier one kept, or undefined. @param room resolves when there is memory for it */
  find(key: string, part: number, room?: () => Promise<void> | undefined): Promise<Uint8Array | undefined>;
  /**
   * Resolves when the answer survives the end of this process; a loss of power is covered soon after, and by `closePart`. Answers of
   * closed parts are dropped.
   */
  append(entry: JournalEntry): Promise<void>;
  /** Makes the answers of a part survive a loss of power, and closes their file: the part is about to be committed. */
  closePart(part: number): Promise<void>;
  close(): Promise<void>;
}

export async function openJournal(files: Disk, folder: string): Promise<Journal> {
  const root = pathIn(folder, exportPaths.journals);
  await files.makeFolder(root);
  const left = new Set((await files.list(root)).map(journalPart));
  return new PartJournals({ files, folder, left });
}

interface Kept {
  readonly files: Disk;
  readonly folder: string;
  /** Parts of which earlier runs left answers. */
  readonly left: ReadonlySet<number | undefined>;
}

interface OpenPart {
  readonly file: JournalFile;
  readonly places: Map<string, JournalPlace>;
}

class PartJournals implements Journal {
  readonly #kept: Kept;
  readonly #open = new Map<number, Promise<OpenPart>>();
  #closedThrough = -1;

  constructor(kept: Kept) {
    this.#kept = kept;
  }

  async find(key: string, part: number, room?: () => Promise<void> | undefined): Promise<Uint8Array | undefined> {
    if (!this.#open.has(part) && !this.#kept.left.has(part)) return undefined;
    const { file, places } = await this.#opened(part);
    const place = places.get(key);
    if (place === undefined) return undefined;
    await room?.();
    return file.read(place);
  }

  async append({ key, part, body }: JournalEntry): Promise<void> {
    // A refusal may be believed only after its part was closed: the next run requests it again if the part is not committed.
    if (part <= this.#closedThrough) return;
    const { file, places } = await this.#opened(part);
    places.set(key, await file.append(key, body));
  }

  async closePart(part: number): Promise<void> {
    const opened = await this.#open.get(part);
    await opened?.file.sync();
    this.#closedThrough = part;
    this.#open.delete(part);
    await opened?.file.close();
  }

  async close(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const opened of open) await (await opened).file.close();
  }

  #opened(part: number): Promise<OpenPart> {
    const known = this.#open.get(part);
    if (known !== undefined) return known;
    const opening = this.#openPart(part);
    this.#open.set(part, opening);
    opening.catch(() => this.#open.delete(part));
    return opening;
  }

  async #openPart(part: number): Promise<OpenPart> {
    const file = await openJournalFile(this.#kept.files, this.#kept.folder, part);
    const places = new Map<string, JournalPlace>();
    try {
      for await (const place of file.takeUp()) places.set(place.key, place);
    } catch (error) {
      await file.close().catch(() => undefined);
      throw error;
    }
    return { file, places };
  }
}

/** The file of answers of one part. */
interface JournalFile {
  /** Resolves when the entry survives the end of this process; a loss of power is covered soon after, and by `sync`. */
  append(key: string, body: Uint8Array): Promise<JournalPlace>;
  read(place: JournalPlace): Promise<Uint8Array>;
  /** Resolves when every entry appended so far survives a loss of power. */
  sync(): Promise<void>;
  /** Finds what an earlier run left, and cuts off what is not whole. Before anything is appended. */
  takeUp(): AsyncGenerator<JournalPlace, void, void>;
  close(): Promise<void>;
}

/** Opens a file of answers, or makes it. */
async function openJournalFile(files: Disk, folder: string, part: number): Promise<JournalFile> {
  const file = await files.open(pathIn(folder, exportPaths.journal(part)), 'update');
  try {
    await files.syncFolder(pathIn(folder, exportPaths.journals));
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
  return new AppendedFile(file);
}

class AppendedFile implements JournalFile {
  readonly #file: OpenFile;
  /** Where the next entry goes: behind the whole ones. */
  #end = 0;
  /** Appends run one after another, so that a crash can only cut the last entry. */
  #turn: Promise<unknown> = Promise.resolve();
  /** What `end` was when the last sync began that succeeded. */
  #synced = 0;
  #syncing: Promise<void> | undefined;
  /** A sync that failed is never tried again: it may have lost what a second one would call safe. */
  #failure: Error | undefined;

  constructor(file: OpenFile) {
    this.#file = file;
  }

  async append(key: string, body: Uint8Array): Promise<JournalPlace> {
    // One that could not be written does not keep those behind it from their place.
    const turn = this.#turn.catch(() => undefined).then(() => this.#write(key, body));
    this.#turn = turn;
    const place = await turn;
    // A failure here is not lost: `sync` meets it before any part is committed.
    void this.#syncSoon().catch(() => undefined);
    return place;
  }

  async #write(key: string, body: Uint8Array): Promise<JournalPlace> {
    const head = entryHead(key, body);
    const place = { key, position: bodyAt(this.#end, body.length), length: body.length };
    await this.#file.write(head, this.#end);
    await this.#file.write(body, place.position);
    this.#end = nextEntry(place);
    return place;
  }

  read({ position, length }: JournalPlace): Promise<Uint8Array> {
    return this.#file.read(position, length);
  }

  async sync(): Promise<void> {
    while (this.#synced < this.#end) await this.#syncSoon();
  }

  /** One sync at a time; answers that arrive meanwhile share the next. */
  #syncSoon(): Promise<void> {
    this.#syncing ??= (async () => {
      const end = this.#end;
      try {
        if (this.#failure !== undefined) throw this.#failure;
        await this.#file.sync();
        this.#synced = end;
      } catch (error) {
        this.#failure = error instanceof Error ? error : new Error(String(error));
        throw error;
      } finally {
        this.#syncing = undefined;
      }
    })();
    return this.#syncing;
  }

  async *takeUp(): AsyncGenerator<JournalPlace, void, void> {
    for await (const place of readEntries(this.#file)) {
      yield place;
      this.#end = nextEntry(place);
    }
    if (this.#end < (await this.#file.size())) await this.#file.truncate(this.#end);
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => undefined);
    await this.#syncing?.catch(() => undefined);
    await this.#file.close();
  }
}
