import { ExportError } from '../../lib/export-error.ts';
import { sha256 } from '../../lib/hash/sha256.ts';

/**
 * What an object is made of. A file is whole and does not change until the call ends; a place that is a folder moves it. `sha256` is
 * in lower-case hex.
 */
export type ObjectBody =
  | { readonly bytes: Uint8Array }
  | { readonly file: string; readonly bytes: number; readonly sha256: string };

export interface NamedBody {
  readonly name: string;
  readonly body: ObjectBody;
}

export interface ObjectLook {
  readonly bytes: number;
  /** Lower-case hex; undefined in a folder, and where another program put the object and left no hash. */
  readonly sha256: string | undefined;
  /** Opaque: `replace` takes it back. Empty where the store sends none. */
  readonly tag: string;
  /** When it was put, by the clock of a bucket, in milliseconds since 1970. */
  readonly putAtMs?: number | undefined;
}

/** Bytes of an object from `from` on, `length` of them (at least one) or as many as there are. */
export interface ByteRange {
  readonly from: number;
  readonly length: number;
}

/**
 * The bytes of an export under their names, in a folder or below a prefix of a bucket. Names are relative to it, with `/` between folders. Failures that pass are retried inside.
 * Every operation @throws {ExportError} `cannotWrite` when access is denied, the bucket does not exist or credentials have
 * expired; `unavailable` when the store did not recover within 15 minutes.
 */
export interface ObjectStore {
  /**
   * Whether processes on other machines may work on what lies here: claims and a heartbeat keep them apart then, and parts are made
   * in a scratch folder. In a folder the lock of an export keeps them away, and its files are those of the store.
   */
  readonly isShared: boolean;
  /**
   * Puts an object if there is none of this name. `taken` may be our own: an answer was lost and the put retried.
   * @throws {ExportError} `usage` above 5 GB
   */
  putNew(name: string, body: ObjectBody): Promise<'put' | 'taken'>;
  /** `putNew` for the files of a part. Resolves to the names that were taken, and all others survive a loss of power then. */
  putAll(bodies: readonly NamedBody[]): Promise<readonly string[]>;
  /** Puts an object in place of the one that `look` gave `tag` for. @throws {ExportError} `usage` above 5 GB */
  replace(name: string, body: ObjectBody, tag: string): Promise<'put' | 'changed'>;
  /** Puts an object, whatever is there. Heartbeats, records of runs and reports use it. @throws {ExportError} `usage` above 5 GB */
  put(name: string, body: ObjectBody): Promise<void>;
  /** Size, hash and tag; undefined when there is no such object. */
  look(name: string): Promise<ObjectLook | undefined>;
  /** The bytes of an object; a broken connection is resumed. @throws {ExportError} `damaged` when it is absent or changes meanwhile */
  read(name: string, range?: ByteRange): AsyncIterable<Uint8Array>;
  /** Objects whose names begin with `prefix`, sorted by name. */
  list(prefix: string): AsyncIterable<{ readonly name: string; readonly bytes: number }>;
  /** What is directly within a folder: names of objects, and of folders with a slash at their end. @param folder empty, or ends with `/` */
  names(folder: string): AsyncIterable<string>;
  /** Removes objects; an absent one is no error. */
  remove(names: readonly string[]): Promise<void>;
}

/** The most bytes that every store takes in one request. */
export const maxObjectBytes = 5_000_000_000;

export function sizeOfBody(body: ObjectBody): number {
  return 'file' in body ? body.bytes : body.bytes.length;
}

/** Lower-case hex. */
export function sha256OfBody(body: ObjectBody): string {
  return 'file' in body ? body.sha256 : sha256(body.bytes);
}

/** @throws {ExportError} `usage` */
export function requirePuttable(name: string, body: ObjectBody): void {
  const bytes = sizeOfBody(body);
  if (bytes <= maxObjectBytes) return;
  throw new ExportError('usage', `${name} has ${bytes} bytes; an object may have at most ${maxObjectBytes}`, {
    todo: 'Lower output.rowsPerPart.',
    facts: { bytes },
  });
}

export function absentObject(place: string): ExportError {
  return new ExportError('damaged', `${place} does not exist`);
}

export function changedObject(place: string): ExportError {
  return new ExportError('damaged', `${place} changed while it was read`);
}

/** The whole of a small object. @throws {ExportError} `damaged` when it is absent */
export async function readObject(store: ObjectStore, name: string): Promise<Buffer> {
  const blocks: Uint8Array[] = [];
  for await (const block of store.read(name)) blocks.push(block);
  return Buffer.concat(blocks);
}

/** The whole of a small object; undefined when there is none. */
export async function readObjectIfThere(store: ObjectStore, name: string): Promise<Buffer | undefined> {
  if ((await store.look(name)) === undefined) return undefined;
  try {
    return await readObject(store, name);
  } catch (error) {
    // Another process may have removed it since.
    if ((await store.look(name)) === undefined) return undefined;
    throw error;
  }
}

/** What changes with a small object: its tag, or the hash of its bytes where the store sends no tags; undefined when there is none. */
export async function versionOf(store: ObjectStore, name: string): Promise<string | undefined> {
  const found = await store.look(name);
  if (found === undefined || found.tag !== '') return found?.tag;
  const bytes = await readObjectIfThere(store, name);
  return bytes && sha256(bytes);
}

export async function namesOf(store: ObjectStore, prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of store.list(prefix)) names.push(name);
  return names;
}

/** `ObjectStore.putAll` of a bucket: side by side. */
export async function putSideBySide(
  putNew: ObjectStore['putNew'],
  bodies: readonly NamedBody[],
): Promise<readonly string[]> {
  const put = await Promise.allSettled(bodies.map(async ({ name, body }) => ({ name, how: await putNew(name, body) })));
  return put.flatMap((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value.how === 'taken' ? [each.value.name] : [];
  });
}

/** So many requests run at once. */
const atOnce = 16;

/** Does something with each item, a few at a time. The first failure ends it. */
export async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items].reverse();
  const worker = async (): Promise<void> => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** The objects under a folder of a store, by their names in it. The store itself for no folder. */
export function storeWithin(store: ObjectStore, folder: string): ObjectStore {
  if (folder === '') return store;
  const prefix = `${folder.replace(/\/+$/, '')}/`;
  return {
    isShared: store.isShared,
    putNew: (name, body) => store.putNew(prefix + name, body),
    putAll: async (bodies) => {
      const taken = await store.putAll(bodies.map(({ name, body }) => ({ name: prefix + name, body })));
      return taken.map((name) => name.slice(prefix.length));
    },
    replace: (name, body, tag) => store.replace(prefix + name, body, tag),
    put: (name, body) => store.put(prefix + name, body),
    look: (name) => store.look(prefix + name),
    read: (name, range) => store.read(prefix + name, range),
    list: async function* (start) {
      for await (const { name, bytes } of store.list(prefix + start)) yield { name: name.slice(prefix.length), bytes };
    },
    names: (folder) => store.names(prefix + folder),
    remove: (names) => store.remove(names.map((name) => prefix + name)),
  };
}
