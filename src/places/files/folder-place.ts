import { dirname } from 'node:path';
import { exportPaths, pathIn } from '../export/export-folder.ts';
import { type FileStore, syncFoldersOf } from './file-store.ts';
import { writeFile } from './write-whole.ts';
import {
  absentObject,
  type ByteRange,
  type ObjectBody,
  type ObjectStore,
  requirePuttable,
} from '../objects/object-store.ts';

const blockBytes = 1 << 20;

/**
 * A local folder as a place of an export. A file appears under its name whole and synced: it is made in `.run` and linked, which
 * fails where the name is taken. A body that is a file is looked for and moved, and so is everything on a disk without hard links:
 * whoever writes in an export holds its lock. A folder keeps no hashes, so `look` has none.
 */
export function folderPlace(files: FileStore, root: string): ObjectStore {
  const pathOf = (name: string): string => pathIn(root, name);
  let turn: Promise<unknown> = Promise.resolve();

  /** What is looked at stays so until it has another name: names are given one after another. */
  function inTurn<T>(name: () => Promise<T>): Promise<T> {
    const named = turn.then(name);
    turn = named.catch(() => undefined);
    return named;
  }

  /** The body as a synced file. Its name may be left, as a second one of what was put before: that must not be emptied. */
  async function fileOf(body: ObjectBody): Promise<string> {
    if ('file' in body) return body.file;
    const path = pathOf(`${exportPaths.unfinished}/new`);
    await files.makeFolder(dirname(path));
    await files.remove(path);
    await writeFile(files, path, (file) => file.write(body.bytes));
    return path;
  }

  async function putFile(name: string, body: ObjectBody): Promise<'put' | 'taken'> {
    requirePuttable(name, body);
    const path = pathOf(name);
    return inTurn(async () => {
      if ((await files.sizeOf(path)) !== undefined) return 'taken';
      const file = await fileOf(body);
      await files.makeFolder(dirname(path));
      const linked = 'file' in body ? 'refused' : await files.link(file, path);
      if (linked === 'refused') await files.rename(file, path);
      return linked === 'taken' ? 'taken' : 'put';
    });
  }

  async function putOver(name: string, body: ObjectBody): Promise<void> {
    const path = pathOf(name);
    const file = await fileOf(body);
    await files.makeFolder(dirname(path));
    await files.rename(file, path);
    await files.syncFolder(dirname(path));
  }

  return {
    isShared: false,
    putNew: async (name, body) => {
      const result = await putFile(name, body);
      // What another process put and did not sync is safe, too.
      await files.syncFolder(dirname(pathOf(name)));
      return result;
    },
    putAll: async (bodies) => {
      const taken: string[] = [];
      for (const { name, body } of bodies) if ((await putFile(name, body)) === 'taken') taken.push(name);
      const paths = bodies.map(({ name }) => pathOf(name));
      await syncFoldersOf(files, root, paths);
      return taken;
    },
    replace: async (name, body, tag) => {
      requirePuttable(name, body);
      return inTurn(async () => {
        if ((await files.versionOf(pathOf(name))) !== tag) return 'changed';
        await putOver(name, body);
        return 'put';
      });
    },
    put: async (name, body) => {
      requirePuttable(name, body);
      await inTurn(() => putOver(name, body));
    },
    look: async (name) => {
      const bytes = await files.sizeOf(pathOf(name));
      const tag = await files.versionOf(pathOf(name));
      return typeof bytes === 'number' && tag !== undefined ? { bytes, sha256: undefined, tag } : undefined;
    },
    read: (name, range) => readFile(files, pathOf(name), range),
    list: (prefix) => filesBelow(files, root, prefix),
    names: async function* (folder) {
      for (const { name, bytes } of await namesIn(files, pathOf(folder))) yield bytes === 'folder' ? `${name}/` : name;
    },
    remove: async (names) => {
      const paths = names.map(pathOf);
      for (const path of paths) await files.remove(path);
      await syncFoldersOf(files, root, paths);
    },
  };
}

async function* readFile(files: FileStore, path: string, range?: ByteRange): AsyncGenerator<Uint8Array, void, void> {
  const bytes = await files.sizeOf(path);
  if (range === undefined && typeof bytes === 'number' && bytes <= blockBytes) {
    const whole = await files.readAll(path);
    if (whole === undefined) throw absentObject(path);
    yield whole;
    return;
  }
  if (bytes === undefined) throw absentObject(path);
  const file = await files.open(path, 'read');
  try {
    const size = await file.size();
    const end = range === undefined ? size : Math.min(size, range.from + range.length);
    for (let at = range?.from ?? 0; at < end; ) {
      const block = await file.read(at, Math.min(blockBytes, end - at));
      if (block.length === 0) return;
      at += block.length;
      yield block;
    }
  } finally {
    await file.close();
  }
}

interface Named {
  readonly name: string;
  readonly bytes: number | 'folder';
}

async function namesIn(files: FileStore, folder: string): Promise<Named[]> {
  const found: Named[] = [];
  for (const name of await files.list(folder)) {
    const bytes = await files.sizeOf(pathIn(folder, name));
    if (bytes !== undefined) found.push({ name, bytes });
  }
  return found;
}

/** All files whose names begin with a prefix, in the order of their names; not what is in the making. */
async function* filesBelow(
  files: FileStore,
  root: string,
  prefix: string,
): AsyncGenerator<{ readonly name: string; readonly bytes: number }, void, void> {
  const top = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const entries = (await namesIn(files, pathIn(root, top))).map(({ name, bytes }) => ({
    name: bytes === 'folder' ? `${top}${name}/` : `${top}${name}`,
    bytes,
  }));
  // A folder sorts with its slash, as the names in it do.
  for (const { name, bytes } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (name === `${exportPaths.unfinished}/`) continue;
    if (bytes !== 'folder') {
      if (name.startsWith(prefix)) yield { name, bytes };
    } else if (name.startsWith(prefix) || prefix.startsWith(name)) {
      yield* filesBelow(files, root, prefix.startsWith(name) ? prefix : name);
    }
  }
}
