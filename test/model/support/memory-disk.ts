import { dirname } from 'node:path';
import { diskError } from '../../../src/lib/disk/on-disk.ts';
import type { Disk, OpenFile } from '../../../src/places/files/disk.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import type { Lock } from '../../../src/places/files/lock.ts';
import { Inode, Tree } from './memory-tree.ts';

/** What a store is asked for, one at a time. */
export interface Operation {
  readonly kind:
    | 'open'
    | 'create'
    | 'write'
    | 'read'
    | 'sync'
    | 'truncate'
    | 'close'
    | 'rename'
    | 'link'
    | 'remove'
    | 'makeFolder'
    | 'syncFolder'
    | 'list'
    | 'lock'
    /** A request to a bucket. */
    | 'store';
  readonly path: string;
}

/**
 * What becomes of an operation: it happens; it fails with a code of the system, after `written` bytes when it is a write;
 * or the machine stops before it, or within it after that many bytes.
 */
export type Fate =
  | { readonly kind: 'happens' }
  | { readonly kind: 'fails'; readonly code: string; readonly writtenShare?: number }
  | { readonly kind: 'dies'; readonly writtenShare?: number };

/** Thrown by everything that a killed run still tries. */
export class Killed extends Error {}

/** Sets the fate of every operation, before it happens. */
export type Weather = (operation: Operation) => Fate;

const happens: Fate = { kind: 'happens' };

/**
 * A disk in memory. It knows what a loss of power leaves: bytes that were synced, names that were in a folder when that
 * was synced, and of the rest nothing or a part.
 */
export class MemoryDisk {
  tree = new Tree();
  weather: Weather = () => happens;
  /** Files that are open. */
  openFiles = 0;
  #dead = false;
  readonly #locked = new Set<string>();
  /** Every file there ever was, by the path under which it was made. */
  readonly made: { readonly path: string; readonly inode: Inode }[] = [];
  /** Told of each file that gets a name. */
  onNamed: (path: string, inode: Inode) => void = () => undefined;

  readonly files: Disk = {
    open: (path, mode) => this.#open(path, mode),
    rename: (from, to) =>
      this.#does('rename', to, () => {
        const inode = this.tree.rename(from, to);
        if (inode !== undefined) this.onNamed(to, inode);
      }),
    link: (from, to) =>
      this.#does('link', to, () => {
        if (this.tree.sizeOf(to) !== undefined) return 'taken';
        const inode = this.tree.fileAt(from);
        if (inode === undefined) throw systemError('ENOENT');
        this.tree.link(to, inode);
        this.onNamed(to, inode);
        return 'made';
      }),
    makeLink: (path, target) =>
      this.#does('link', path, () => {
        this.tree.makeLink(path, target);
      }),
    readLink: (path) => this.#does('read', path, () => this.tree.linkAt(path)),
    remove: (path) =>
      this.#does('remove', path, () => {
        this.tree.unlink(path);
      }),
    makeFolder: (path) =>
      this.#does('makeFolder', path, () => {
        this.tree.makeFolder(path);
      }),
    syncFolder: (path) =>
      this.#does('syncFolder', path, () => {
        this.tree.syncFolder(path);
      }),
    list: (path) => this.#does('list', path, () => this.tree.names(path)),
    listMarked: (path) =>
      this.#does('list', path, () =>
        this.tree.names(path).map((name) => (this.tree.sizeOf(`${path}/${name}`) === 'folder' ? `${name}/` : name)),
      ),
    readAll: (path) =>
      this.#does('read', path, () => {
        if (this.tree.hasFolder(path)) throw systemError('EISDIR');
        return this.tree.fileAt(path)?.content();
      }),
    sizeOf: (path) => this.#does('read', path, () => this.tree.sizeOf(path)),
    versionOf: (path) => this.#does('read', path, () => this.tree.fileAt(path)?.version),
    takeLock: (folder) => this.#takeLock(folder),
  };

  /** Another disk that holds the same, on which nothing was done yet. */
  copy(): MemoryDisk {
    const disk = new MemoryDisk();
    disk.tree = this.tree.copy();
    return disk;
  }

  get dead(): boolean {
    return this.#dead;
  }

  /** An operation of this machine elsewhere. @throws {Killed} */
  meets(operation: Operation): void {
    this.#fateOf(operation);
  }

  /** Starts the machine again after a kill; what was written stays. */
  restart(): void {
    this.#dead = false;
    this.#locked.clear();
    this.openFiles = 0;
    this.weather = () => happens;
  }

  /** Starts it again after a loss of power. `keep` draws what survives of that which was not synced. */
  restartAfterPowerLoss(keep: () => boolean): void {
    this.tree.losePower(keep);
    this.restart();
  }

  async #does<T>(kind: Operation['kind'], path: string, act: () => T): Promise<T> {
    const fate = this.#fateOf({ kind, path });
    if (fate.kind === 'fails') throw diskError(`${kind} ${path}`, systemError(fate.code));
    try {
      return act();
    } catch (error) {
      throw diskError(`${kind} ${path}`, error);
    }
  }

  /** Never `dies`: that is thrown. */
  #fateOf(operation: Operation): Exclude<Fate, { kind: 'dies' }> {
    if (this.#dead) throw new Killed();
    const fate = this.weather(operation);
    if (fate.kind !== 'dies') return fate;
    this.#dead = true;
    throw new Killed();
  }

  async #open(path: string, mode: Parameters<Disk['open']>[1] = 'read'): Promise<OpenFile> {
    const inode = await this.#does(mode === 'create' ? 'create' : 'open', path, () => this.#inode(path, mode));
    this.openFiles += 1;
    let end = 0;
    let open = true;
    const during = <T>(kind: Operation['kind'], act: () => T): Promise<T> =>
      this.#does(kind, path, () => {
        if (!open) throw systemError('EBADF');
        return act();
      });
    return {
      write: async (bytes, position = end) => {
        await this.#write({ path, inode, open }, bytes, position);
        end = position + bytes.length;
      },
      read: (position, length) => during('read', () => inode.content().subarray(position, position + length)),
      sync: async () => {
        try {
          await during('sync', () => {
            inode.sync();
          });
        } catch (error) {
          if (!this.#dead) inode.failSync();
          throw error;
        }
      },
      truncate: (length) =>
        during('truncate', () => {
          inode.truncate(length);
        }),
      size: () => during('read', () => inode.content().length),
      close: async () => {
        // A close that fails has closed the file all the same: see close(2).
        if (open && !this.#dead) this.openFiles -= 1;
        await during('close', () => undefined).finally(() => {
          open = false;
        });
      },
    };
  }

  #inode(path: string, mode: Parameters<Disk['open']>[1]): Inode {
    const known = this.tree.fileAt(path);
    if (known !== undefined) {
      if (mode === 'create') known.truncate(0);
      return known;
    }
    if (mode === 'read' || !this.tree.hasFolder(dirname(path))) throw systemError('ENOENT');
    const inode = new Inode();
    this.tree.link(path, inode);
    this.made.push({ path, inode });
    return inode;
  }

  async #write(
    file: { path: string; inode: Inode; open: boolean },
    bytes: Uint8Array,
    position: number,
  ): Promise<void> {
    if (this.#dead) throw new Killed();
    const fate = this.weather({ kind: 'write', path: file.path });
    if (!file.open) throw diskError(`write ${file.path}`, systemError('EBADF'));
    const share = fate.kind === 'happens' ? 1 : (fate.writtenShare ?? 0);
    file.inode.write(position, bytes.subarray(0, Math.ceil(bytes.length * share)));
    if (fate.kind === 'fails') throw diskError(`write ${file.path}`, systemError(fate.code));
    if (fate.kind === 'happens') return;
    this.#dead = true;
    throw new Killed();
  }

  async #takeLock(folder: string): Promise<Lock> {
    const path = `${folder}/.run/lock`;
    await this.#does('lock', path, () => {
      if (this.#locked.has(path)) throw new ExportError('locked', 'another run holds it');
      this.tree.link(path, this.tree.fileAt(path) ?? new Inode());
      this.#locked.add(path);
    });
    const release = (): void => {
      this.#locked.delete(path);
    };
    return {
      release: () => this.#does('lock', path, release),
      remove: () =>
        this.#does('lock', path, () => {
          this.tree.unlink(path);
          if (this.tree.names(dirname(path)).length === 0) this.tree.unlink(dirname(path));
          release();
        }),
    };
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
