import { randomUUID } from 'node:crypto';
import { createReadStream, renameSync, statSync } from 'node:fs';
import { copyFile, link, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { exclusively, thisProcess } from '../../src/lib/process/lock-owner.ts';
import { codeOf, isNothingThere } from '../../src/lib/export-error.ts';
import { makeFolder, syncFolder, onDisk } from '../../src/lib/disk/on-disk.ts';
import { factsOfBytes } from '../../src/lib/hash/sha256.ts';
import {
  absentObject,
  type ByteRange,
  type ObjectBody,
  type ObjectStore,
  requirePuttable,
  putSideBySide,
} from '../../src/places/objects/object-store.ts';

/** Names of files in the making and of locks: never listed. */
const hidden = /(^|\/)\.[^/]*\.(new|turn)[^/]*$/;

/**
 * Objects as files of a local folder. A file appears by link(2), which fails where the name is taken, and survives a loss
 * of power once put. A folder keeps no metadata, so `look` reads and hashes the file. Processes take turns to replace.
 */
export function bucketInFolder(root: string): ObjectStore {
  const self = thisProcess(randomUUID());
  const pathOf = (name: string): string => join(root, name);

  /** Makes a synced file beside `path`, hands it on, and removes what is left of it. */
  async function withNewFile<T>(path: string, body: ObjectBody, publish: (made: string) => Promise<T>): Promise<T> {
    const folder = dirname(path);
    await makeFolder(folder);
    const made = join(folder, `.${basename(path)}.${randomUUID()}.new`);
    try {
      if ('file' in body) await copyFile(body.file, made);
      else await writeFile(made, body.bytes);
      await syncFile(made);
      const result = await publish(made);
      await syncFolder(folder);
      return result;
    } finally {
      await rm(made, { force: true });
    }
  }

  function write<T>(name: string, body: ObjectBody, publish: (made: string, path: string) => Promise<T>): Promise<T> {
    requirePuttable(name, body);
    const path = pathOf(name);
    return onDisk(`put ${path}`, () => withNewFile(path, body, (made) => publish(made, path)));
  }

  return {
    isShared: true,
    putNew: async (name, body) => write(name, body, linkNew),
    putAll: (bodies) => putSideBySide(async (name, body) => write(name, body, linkNew), bodies),
    put: async (name, body) => write(name, body, rename),
    replace: async (name, body, tag) =>
      write(name, body, (made, path) => {
        const turn = join(dirname(path), `.${basename(path)}.turn`);
        return exclusively({ path: turn, self }, (requireHeld) => replaceTagged(made, path, tag, requireHeld));
      }),
    look: (name) =>
      onDisk(`read ${pathOf(name)}`, async () => {
        const tag = tagOf(pathOf(name));
        if (tag === undefined) return undefined;
        return { ...(await factsOfBytes(blocksOf(pathOf(name)))), tag };
      }),
    read: (name, range) => readFile(pathOf(name), range),
    list: async function* (prefix) {
      for (const name of await onDisk(`list ${root}`, () => namesIn(root, prefix))) {
        const found = await stat(pathOf(name)).catch(absent);
        if (found !== undefined) yield { name, bytes: found.size };
      }
    },
    names: async function* (folder) {
      const names = await onDisk(`list ${root}`, () => namesIn(root, folder));
      yield* new Set(names.map((name) => name.slice(folder.length).replace(/\/.*$/, '/')));
    },
    remove: (names) =>
      onDisk(`remove from ${root}`, async () => {
        for (const name of names) await rm(pathOf(name), { force: true });
      }),
  };
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}

function replaceTagged(made: string, path: string, tag: string, requireHeld: () => void): 'put' | 'changed' {
  if (tagOf(path) !== tag) return 'changed';
  requireHeld();
  renameSync(made, path);
  return 'put';
}

async function linkNew(made: string, path: string): Promise<'put' | 'taken'> {
  try {
    await link(made, path);
    return 'put';
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return 'taken';
  }
}

/** Changes with each put: every one makes a new file. Undefined when there is none. */
function tagOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.ino}-${found.mtimeNs}-${found.size}`;
}

function blocksOf(path: string, range?: ByteRange): AsyncIterable<Buffer> {
  return createReadStream(path, range === undefined ? {} : { start: range.from, end: range.from + range.length - 1 });
}

async function* readFile(path: string, range: ByteRange | undefined): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* blocksOf(path, range);
  } catch (error) {
    if (isNothingThere(error)) throw absentObject(path);
    await onDisk(`read ${path}`, () => Promise.reject(error as Error));
  }
}

async function namesIn(root: string, prefix: string): Promise<string[]> {
  const top = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const found = (await readdir(join(root, top), { recursive: true, withFileTypes: true }).catch(absent)) ?? [];
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, '/').length))
    .filter((name) => name.startsWith(prefix) && !hidden.test(name))
    .sort();
}

function absent(error: unknown): undefined {
  if (!isNothingThere(error)) throw error;
}
