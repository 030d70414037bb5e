import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { ExportError } from '../../lib/export-error.ts';
import { exportPaths, pathIn } from '../export/export-folder.ts';
import { type Disk, syncFoldersOf, writeFile } from './disk.ts';
import {
  absentObject,
  type ByteRange,
  type NamedBody,
  type ObjectBody,
  type ObjectLook,
  type ObjectStore,
  requirePuttable,
} from '../objects/object-store.ts';
import { existsSync, lstatSync } from 'node:fs';
import { link, mkdtemp, open, rm, symlink } from 'node:fs/promises';
import { type LinkKind, onDisk, refusesLinks, withoutLinks } from '../../lib/disk/on-disk.ts';

const blockBytes = 1 << 20;

/**
 * A local folder as a place of an export. A file appears under its name whole and synced: it is made in `.run` and linked, which
 * fails where the name is taken. A body that is a file is looked for and moved, and so is everything on a disk without hard links:
 * whoever writes in an export holds its lock. A folder keeps no hashes, so `look` has none.
 */
export function folderPlace(files: Disk, root: string): ObjectStore {
  return new FolderPlace(files, root, { made: exportPaths.unfinished, isShared: false });
}

/**
 * A local folder in which processes write at once, without a lock: of two that put a new name, one is first. It takes bytes alone.
 * @param made the folder in it where bytes are made into a file; what an interrupted process left there may be removed at any time
 * @throws {ExportError} `putNew`: `cannotWrite` on a disk without hard links
 */
export function sharedFolderPlace(files: Disk, root: string, made: string): ObjectStore {
  return new FolderPlace(files, root, { made, isShared: true });
}

class FolderPlace implements ObjectStore {
  readonly isShared: boolean;
  readonly #files: Disk;
  readonly #root: string;
  /** Where bytes are made into a file. A process that lost its lock unnoticed has another name. */
  readonly #made: string;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(files: Disk, root: string, { made, isShared }: { readonly made: string; readonly isShared: boolean }) {
    this.isShared = isShared;
    this.#files = files;
    this.#root = root;
    this.#made = pathIn(root, `${made}/new-${randomUUID()}`);
  }

  async putNew(name: string, body: ObjectBody): Promise<'put' | 'taken'> {
    const result = await this.#putFile(name, body);
    // What another process put and did not sync is safe, too.
    await this.#files.syncFolder(dirname(this.#pathOf(name)));
    return result;
  }

  async putAll(bodies: readonly NamedBody[]): Promise<readonly string[]> {
    const taken: string[] = [];
    for (const { name, body } of bodies) if ((await this.#putFile(name, body)) === 'taken') taken.push(name);
    await this.#sync(bodies.map(({ name }) => name));
    return taken;
  }

  async replace(name: string, body: ObjectBody, tag: string): Promise<'put' | 'changed'> {
    requirePuttable(name, body);
    return this.#inTurn(async () => {
      if ((await this.#files.versionOf(this.#pathOf(name))) !== tag) return 'changed';
      await this.#putOver(name, body);
      return 'put';
    });
  }

  async put(name: string, body: ObjectBody): Promise<void> {
    requirePuttable(name, body);
    await this.#inTurn(() => this.#putOver(name, body));
  }

  async look(name: string): Promise<ObjectLook | undefined> {
    const bytes = await this.#files.sizeOf(this.#pathOf(name));
    if (typeof bytes !== 'number') return undefined;
    const tag = await this.#files.versionOf(this.#pathOf(name));
    return tag === undefined ? undefined : { bytes, sha256: undefined, tag };
  }

  read(name: string, range?: ByteRange): AsyncIterable<Uint8Array> {
    return readFile(this.#files, this.#pathOf(name), range);
  }

  list(prefix: string): AsyncIterable<{ readonly name: string; readonly bytes: number }> {
    return filesBelow(this.#files, this.#root, prefix);
  }

  async *names(folder: string): AsyncGenerator<string, void, void> {
    yield* await this.#files.listMarked(this.#pathOf(folder));
  }

  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) await this.#files.remove(this.#pathOf(name));
    await this.#sync(names);
  }

  #pathOf(name: string): string {
    return pathIn(this.#root, name);
  }

  /** Makes names survive a loss of power. */
  #sync(names: readonly string[]): Promise<void> {
    return syncFoldersOf(
      this.#files,
      this.#root,
      names.map((name) => this.#pathOf(name)),
    );
  }

  /** What is looked at stays so until it has another name: names are given one after another. */
  #inTurn<T>(name: () => Promise<T>): Promise<T> {
    const named = this.#turn.then(name);
    this.#turn = named.catch(() => undefined);
    return named;
  }

  /** The body as a synced file. Its name may be left, as a second one of what was put before: that must not be emptied. */
  async #fileOf(body: ObjectBody): Promise<string> {
    if ('file' in body) return body.file;
    const path = this.#made;
    await this.#files.makeFolder(dirname(path));
    await this.#files.remove(path);
    await writeFile(this.#files, path, (file) => file.write(body.bytes));
    return path;
  }

  async #putFile(name: string, body: ObjectBody): Promise<'put' | 'taken'> {
    requirePuttable(name, body);
    const path = this.#pathOf(name);
    return this.#inTurn(async () => {
      if ((await this.#files.sizeOf(path)) !== undefined) return this.#taken(path);
      if (this.isShared) return this.#linkOnly(body, path);
      const file = await this.#fileOf(body);
      await this.#files.makeFolder(dirname(path));
      const linked = 'file' in body ? 'refused' : await this.#files.link(file, path);
      if (linked === 'refused') await this.#files.rename(file, path);
      return linked === 'taken' ? this.#taken(path) : 'put';
    });
  }

  /** @throws {ExportError} where something else than a file has the name: nothing could replace it */
  async #taken(path: string): Promise<'taken'> {
    const [size, version] = [await this.#files.sizeOf(path), await this.#files.versionOf(path)];
    if (size === 'folder') throw isNoFile(path, 'a folder');
    if (size === undefined && (await this.#files.readLink(path)) !== undefined)
      throw isNoFile(path, 'a link to nothing');
    // A file that is gone since has no version either.
    if (version === undefined && (await this.#files.sizeOf(path)) !== undefined)
      throw isNoFile(path, 'a pipe or a device');
    return 'taken';
  }

  /** A name that nobody else can have given meanwhile. */
  async #linkOnly(body: ObjectBody, path: string): Promise<'put' | 'taken'> {
    await this.#files.makeFolder(dirname(path));
    return this.#withFile(body, async (file) => {
      const linked = await this.#files.link(file, path);
      if (linked === 'refused') throw withoutHardLinks(path);
      await this.#files.remove(file);
      return linked === 'taken' ? this.#taken(path) : 'put';
    });
  }

  async #putOver(name: string, body: ObjectBody): Promise<void> {
    const path = this.#pathOf(name);
    await this.#files.makeFolder(dirname(path));
    await this.#withFile(body, (file) => this.#files.rename(file, path));
    await this.#files.syncFolder(dirname(path));
  }

  /** Gives the file of a body its name. It is made anew where another process took it for one that was left. */
  async #withFile<T>(body: ObjectBody, giveName: (file: string) => Promise<T>): Promise<T> {
    for (;;) {
      const file = await this.#fileOf(body);
      try {
        return await giveName(file);
      } catch (error) {
        if (!this.isShared || (await this.#files.sizeOf(file)) !== undefined) throw error;
      }
    }
  }
}

function isNoFile(path: string, what: string): ExportError {
  return new ExportError('cannotWrite', `cannot write ${path}: it is ${what}`, {
    todo: 'Move it elsewhere, then run the same command again.',
  });
}

function withoutHardLinks(path: string): ExportError {
  return new ExportError('cannotWrite', `cannot write ${path}: the disk has no hard links`, {
    todo: 'Processes that write at once need them here. Use a disk with hard links (ext4, XFS, APFS, NTFS), or a bucket.',
  });
}

/** What is read whole is small. */
async function* readFile(files: Disk, path: string, range?: ByteRange): AsyncGenerator<Uint8Array, void, void> {
  if (range === undefined) {
    const whole = await files.readAll(path);
    if (whole === undefined) throw absentObject(path);
    yield whole;
    return;
  }
  if ((await files.sizeOf(path)) === undefined) throw absentObject(path);
  const file = await files.open(path);
  try {
    const end = Math.min(await file.size(), range.from + range.length);
    for (let at = range.from; at < end; ) {
      const block = await file.read(at, Math.min(blockBytes, end - at));
      if (block.length === 0) return;
      at += block.length;
      yield block;
    }
  } finally {
    await file.close();
  }
}

/** All files whose names begin with a prefix, in the order of their names; not what is in the making. */
async function* filesBelow(
  files: Disk,
  root: string,
  prefix: string,
): AsyncGenerator<{ readonly name: string; readonly bytes: number }, void, void> {
  const top = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const names = (await files.listMarked(pathIn(root, top))).map((name) => `${top}${name}`);
  for (const name of names.sort()) {
    if (name === `${exportPaths.unfinished}/`) continue;
    if (name.endsWith('/')) {
      if (name.startsWith(prefix) || prefix.startsWith(name))
        yield* filesBelow(files, root, prefix.startsWith(name) ? prefix : name);
    } else if (name.startsWith(prefix)) {
      const bytes = await files.sizeOf(pathIn(root, name));
      if (typeof bytes === 'number') yield { name, bytes };
    }
  }
}

/**
 * Sees that files and the links that are needed can be made in a folder, or the folder itself where it is not there yet. Leaves
 * nothing behind.
 * @returns whether the folder exists
 * @throws {ExportError} `cannotWrite`
 */
export async function probeFolder(folder: string, kind: LinkKind): Promise<boolean> {
  const top = nearestThere(folder);
  if (top !== folder && isLink(folder))
    throw new ExportError('cannotWrite', `${folder} is a link that leads nowhere`, {
      todo: 'Make its target, or choose another folder.',
    });
  await onDisk(`write to ${top}`, async () => {
    const made = await mkdtemp(join(top, '.asset-export-check-'));
    try {
      const file = join(made, 'file');
      const opened = await open(file, 'w');
      try {
        await opened.writeFile('probe');
      } finally {
        await opened.close();
      }
      await (kind === 'hard' ? link : symlink)(file, join(made, 'link')).catch((error: unknown) => {
        throw refusesLinks(error) ? withoutLinks(top, kind) : error;
      });
    } finally {
      await rm(made, { recursive: true, force: true });
    }
  });
  return top === folder;
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function nearestThere(folder: string): string {
  const parent = dirname(folder);
  return existsSync(folder) || parent === folder ? folder : nearestThere(parent);
}
