import { basename, dirname } from 'node:path';

let files = 0;

/** The bytes of a file: as they are read, and as they lie on the disk. */
export class Inode {
  #bytes: Buffer = Buffer.alloc(0);
  #synced: Buffer = Buffer.alloc(0);
  /** Changes since the last sync, in order. */
  #changes: Change[] = [];
  /** Which file it is, and how often it was written. */
  readonly #number = (files += 1);
  #writes = 0;

  get version(): string {
    return `${this.#number}-${this.#writes}`;
  }

  content(): Buffer {
    return this.#bytes;
  }

  /** What a loss of power leaves at least. */
  synced(): Buffer {
    return this.#synced;
  }

  write(position: number, bytes: Uint8Array): void {
    this.#change({ position, bytes: Uint8Array.from(bytes) });
  }

  truncate(length: number): void {
    this.#change({ length });
  }

  sync(): void {
    // What a failed sync gave up is in no change: only bytes that are written again reach the disk.
    this.#synced = this.#changes.reduce(changed, this.#synced);
    this.#changes = [];
  }

  /** As Linux does it: the changes stay to be read, and are forgotten for the next sync. */
  failSync(): void {
    this.#changes = [];
  }

  losePower(keep: () => boolean): void {
    this.#synced = this.#changes.filter(keep).reduce(changed, this.#synced);
    this.#bytes = this.#synced;
    this.#changes = [];
  }

  copy(): Inode {
    const copy = new Inode();
    copy.#bytes = this.#bytes;
    copy.#synced = this.#synced;
    copy.#changes = [...this.#changes];
    return copy;
  }

  #change(change: Change): void {
    this.#writes += 1;
    this.#changes.push(change);
    this.#bytes = changed(this.#bytes, change);
  }
}

type Change = { readonly position: number; readonly bytes: Uint8Array } | { readonly length: number };

function changed(before: Buffer, change: Change): Buffer {
  const length = 'length' in change ? change.length : Math.max(before.length, change.position + change.bytes.length);
  const after = Buffer.alloc(length);
  before.copy(after);
  if ('bytes' in change) after.set(change.bytes, change.position);
  return after;
}

/** A symbolic link to a name in its folder. */
class Link {
  readonly target: string;

  constructor(target: string) {
    this.target = target;
  }

  losePower(): void {
    // The target is part of the name.
  }

  copy(): this {
    return this;
  }
}

type Node = Inode | Folder | Link;

class Folder {
  entries = new Map<string, Node>();
  synced = new Map<string, Node>();

  losePower(keep: () => boolean): void {
    for (const name of new Set([...this.entries.keys(), ...this.synced.keys()])) {
      const now = this.entries.get(name);
      if (now === this.synced.get(name) || !keep()) continue;
      if (now === undefined) this.synced.delete(name);
      else this.synced.set(name, now);
    }
    this.entries = new Map(this.synced);
    for (const node of this.entries.values()) node.losePower(keep);
  }

  copy(): Folder {
    const copies = new Map<Node, Node>();
    const copyOf = (node: Node): Node => {
      const copy = copies.get(node) ?? node.copy();
      copies.set(node, copy);
      return copy;
    };
    const namesOf = (names: Folder['entries']) => new Map([...names].map(([name, node]) => [name, copyOf(node)]));
    const folder = new Folder();
    folder.entries = namesOf(this.entries);
    folder.synced = namesOf(this.synced);
    return folder;
  }
}

/** Folders and files by absolute path. */
export class Tree {
  #root = new Folder();

  copy(): Tree {
    const tree = new Tree();
    tree.#root = this.#root.copy();
    return tree;
  }

  fileAt(path: string): Inode | undefined {
    const node = this.#nodeAt(path);
    return node instanceof Inode ? node : undefined;
  }

  hasFolder(path: string): boolean {
    return this.#nodeAt(path) instanceof Folder;
  }

  sizeOf(path: string): number | 'folder' | undefined {
    const node = this.#nodeAt(path);
    return node instanceof Inode ? node.content().length : node === undefined ? undefined : 'folder';
  }

  names(path: string): string[] {
    const node = this.#nodeAt(path);
    return node instanceof Folder ? [...node.entries.keys()].sort() : [];
  }

  link(path: string, inode: Inode): void {
    this.#folderAt(dirname(path)).entries.set(basename(path), inode);
  }

  makeLink(path: string, target: string): void {
    const { entries } = this.#folderAt(dirname(path));
    if (entries.has(basename(path))) throw Object.assign(new Error('EEXIST'), { code: 'EEXIST' });
    entries.set(basename(path), new Link(target));
  }

  linkAt(path: string): string | undefined {
    const folder = this.#nodeAt(dirname(path));
    const node = folder instanceof Folder ? folder.entries.get(basename(path)) : undefined;
    return node instanceof Link ? node.target : undefined;
  }

  /** A file, a link, or a folder with all in it. Resolves to the file. */
  rename(from: string, to: string): Inode | undefined {
    const node = this.#folderAt(dirname(from)).entries.get(basename(from));
    if (node === undefined) throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
    this.#folderAt(dirname(to)).entries.set(basename(to), node);
    if (from !== to) this.unlink(from);
    return node instanceof Inode ? node : undefined;
  }

  unlink(path: string): void {
    const folder = this.#nodeAt(dirname(path));
    if (folder instanceof Folder) folder.entries.delete(basename(path));
  }

  /** Its name and those above it are safe at once, as `Disk` promises. */
  makeFolder(path: string): void {
    let folder = this.#root;
    for (const name of namesIn(path)) {
      const next = folder.entries.get(name) ?? new Folder();
      if (!(next instanceof Folder)) throw Object.assign(new Error('EEXIST'), { code: 'EEXIST' });
      if (!folder.entries.has(name)) folder.synced.set(name, next);
      folder.entries.set(name, next);
      folder = next;
    }
  }

  syncFolder(path: string): void {
    const folder = this.#folderAt(path);
    folder.synced = new Map(folder.entries);
  }

  losePower(keep: () => boolean): void {
    this.#root.losePower(keep);
  }

  /** Every file, by path. */
  all(): Map<string, Inode> {
    const found = new Map<string, Inode>();
    const visit = (folder: Folder, path: string): void => {
      for (const [name, node] of folder.entries) {
        if (node instanceof Folder) visit(node, `${path}/${name}`);
        else if (node instanceof Inode) found.set(`${path}/${name}`, node);
      }
    };
    visit(this.#root, '');
    return found;
  }

  #folderAt(path: string): Folder {
    const node = this.#nodeAt(path);
    if (node instanceof Folder) return node;
    throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
  }

  #nodeAt(path: string): Inode | Folder | undefined {
    let node: Inode | Folder | undefined = this.#root;
    for (const name of namesIn(path)) {
      const folder: Inode | Folder | undefined = node;
      const next: Node | undefined = folder instanceof Folder ? folder.entries.get(name) : undefined;
      const named: Node | undefined =
        next instanceof Link && folder instanceof Folder ? folder.entries.get(next.target) : next;
      node = named instanceof Link ? undefined : named;
    }
    return node;
  }
}

function namesIn(path: string): string[] {
  return path.split('/').filter((name) => name !== '');
}
