import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  absentObject,
  type ObjectBody,
  type ObjectStore,
  requirePuttable,
  putSideBySide,
} from '../../src/places/objects/object-store.ts';

export interface StoreOperation {
  readonly kind: 'putNew' | 'replace' | 'put' | 'look' | 'read' | 'list' | 'remove';
  readonly name: string;
}

/** Awaited around each operation: it may throw, or take its time. `after`: the store has done it. */
export type StoreWeather = (operation: StoreOperation, when: 'before' | 'after') => Promise<void> | void;

interface MemoryObject {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly tag: string;
}

/** A bucket in memory, which several processes of a test may share. */
export class MemoryObjects {
  readonly objects = new Map<string, MemoryObject>();
  #puts = 0;

  /** The store as one process sees it. @param readBody reads a local file of that process */
  open(
    weather: StoreWeather = () => undefined,
    readBody: (file: string) => Promise<Uint8Array> = async (file) => readFile(file),
  ): ObjectStore {
    const { objects } = this;
    const during = async <T>(kind: StoreOperation['kind'], name: string, act: () => T): Promise<T> => {
      await weather({ kind, name }, 'before');
      const result = act();
      await weather({ kind, name }, 'after');
      return result;
    };
    const bytesOf = (body: ObjectBody): Promise<Uint8Array> =>
      'file' in body ? readBody(body.file) : Promise.resolve(body.bytes);
    const set = (name: string, bytes: Uint8Array): 'put' => {
      this.#puts += 1;
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      objects.set(name, { bytes: Uint8Array.from(bytes), sha256, tag: String(this.#puts) });
      return 'put';
    };
    const putNew: ObjectStore['putNew'] = async (name, body) => {
      requirePuttable(name, body);
      const bytes = await bytesOf(body);
      return during('putNew', name, () => (objects.has(name) ? 'taken' : set(name, bytes)));
    };
    return {
      isShared: true,
      putNew,
      putAll: (bodies) => putSideBySide(putNew, bodies),
      replace: async (name, body, tag) => {
        requirePuttable(name, body);
        const bytes = await bytesOf(body);
        return during('replace', name, () => (objects.get(name)?.tag === tag ? set(name, bytes) : 'changed'));
      },
      put: async (name, body) => {
        requirePuttable(name, body);
        const bytes = await bytesOf(body);
        await during('put', name, () => set(name, bytes));
      },
      look: (name) =>
        during('look', name, () => {
          const found = objects.get(name);
          return found && { bytes: found.bytes.length, sha256: found.sha256, tag: found.tag };
        }),
      read: async function* (name, range) {
        const bytes = await during('read', name, () => objects.get(name)?.bytes);
        if (bytes === undefined) throw absentObject(name);
        const { from, length } = range ?? { from: 0, length: bytes.length };
        yield bytes.subarray(from, from + length);
      },
      list: async function* (prefix) {
        const found = await during('list', prefix, () => [...objects]);
        for (const [name, { bytes }] of found.sort(([a], [b]) => (a < b ? -1 : 1)))
          if (name.startsWith(prefix)) yield { name, bytes: bytes.length };
      },
      names: async function* (folder) {
        const found = await during('list', folder, () => [...objects.keys()].filter((name) => name.startsWith(folder)));
        yield* new Set(found.map((name) => name.slice(folder.length).replace(/\/.*$/, '/')));
      },
      remove: async (names) => {
        for (const name of names) await during('remove', name, () => objects.delete(name));
      },
    };
  }
}
