import { ExportError } from '../../lib/export-error.ts';
import { type ObjectStore, versionOf } from '../objects/object-store.ts';
import type { Reads, ReadableFile } from '../files/disk.ts';

/** The objects of a bucket as files to read: paths begin with `address`. */
export function bucketFiles(store: ObjectStore, address: string): Reads {
  const nameOf = (path: string): string => path.slice(address.length).replace(/^\//, '');
  return {
    open: async (path) => {
      const name = nameOf(path);
      const found = await store.look(name);
      if (found === undefined) throw new ExportError('damaged', `${path} does not exist`);
      return new ObjectFile(store, name, found.bytes);
    },
    listMarked: async (path) => {
      const names: string[] = [];
      for await (const name of store.names(folderPrefix(nameOf(path)))) names.push(name);
      return names.sort();
    },
    list: async (path) => {
      const prefix = folderPrefix(nameOf(path));
      const names = new Set<string>();
      for await (const name of store.names(prefix)) names.add(name.replace(/\/$/, ''));
      return [...names].sort();
    },
    readAll: async (path) => {
      const name = nameOf(path);
      const found = await store.look(name);
      return found === undefined ? undefined : new ObjectFile(store, name, found.bytes).read(0, found.bytes);
    },
    sizeOf: async (path) => {
      const name = nameOf(path);
      const found = name === '' ? undefined : await store.look(name);
      if (found !== undefined) return found.bytes;
      for await (const _ of store.list(folderPrefix(name))) return 'folder';
      return undefined;
    },
    versionOf: async (path) => versionOf(store, nameOf(path)),
    readLink: () => Promise.resolve(undefined),
  };
}

function folderPrefix(name: string): string {
  return name === '' ? '' : `${name}/`;
}

/** Reads in order come from one request; each other one is a request of its own. */
class ObjectFile implements ReadableFile {
  readonly #store: ObjectStore;
  readonly #name: string;
  readonly #bytes: number;
  #blocks: AsyncIterator<Uint8Array> | undefined;
  /** What was received of the stream and not taken, and where it begins. */
  #rest: Uint8Array = new Uint8Array(0);
  #at = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: ObjectStore, name: string, bytes: number) {
    this.#store = store;
    this.#name = name;
    this.#bytes = bytes;
  }

  read(position: number, length: number): Promise<Uint8Array> {
    const reading = this.#turn.then(() => this.#read(position, Math.min(length, this.#bytes - position)));
    this.#turn = reading.catch(() => undefined);
    return reading;
  }

  async #read(position: number, length: number): Promise<Uint8Array> {
    if (length <= 0) return new Uint8Array(0);
    if (position !== this.#at) return this.#range(position, length);
    this.#blocks ??= this.#store.read(this.#name)[Symbol.asyncIterator]();
    const taken: Uint8Array[] = [];
    for (let left = length; left > 0; ) {
      if (this.#rest.length === 0) {
        const next = await this.#blocks.next();
        if (next.done === true) break;
        this.#rest = next.value;
      }
      const some = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(some.length);
      taken.push(some);
      left -= some.length;
    }
    this.#at += taken.reduce((sum, { length: bytes }) => sum + bytes, 0);
    return Buffer.concat(taken);
  }

  async #range(from: number, length: number): Promise<Uint8Array> {
    const blocks: Uint8Array[] = [];
    for await (const block of this.#store.read(this.#name, { from, length })) blocks.push(block);
    return Buffer.concat(blocks);
  }

  size(): Promise<number> {
    return Promise.resolve(this.#bytes);
  }

  async close(): Promise<void> {
    await this.#turn;
    await this.#blocks?.return?.();
  }
}
