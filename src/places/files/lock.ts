import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { codeOf, ExportError, isNothingThere, messageOf } from '../../lib/export-error.ts';
import {
  answersAt,
  openLifeSocket,
  isAlive,
  isOfThisKernel,
  type LockOwner,
  ownerIn,
  ownerLine,
  thisProcess,
} from '../../lib/process/lock-owner.ts';
import { diskError, openPlainSync, refusesLinks, withoutLinks } from '../../lib/disk/on-disk.ts';
import { exportPaths, pathIn } from '../export/export-folder.ts';
import { commandLine } from '../../lib/addresses/shown-text.ts';

/** Held by the one run that may change an export. */
export interface Lock {
  release(): Promise<void>;
  /** Lets go for good: removes the lock's own files, and their folder when nothing else is in it. */
  remove(): Promise<void>;
}

/**
 * Takes an export for this process.
 *
 * `lock` names its owner. The process that links `lock.after.<its nonce>` first follows a dead owner;
 * should that one die too, the next follows it in the same way, so that `lock` begins a chain whose end is the owner.
 * A link is made by exactly one process, and no name comes twice: of many takers one wins, wherever any of them is
 * killed. The winner puts itself at the beginning and takes the chain away.
 * @throws {ExportError} `locked`, naming the owner; `cannotWrite`
 */
export async function takeLock(folder: string, self: LockOwner = thisProcess(randomUUID())): Promise<Lock> {
  const lock = new FolderLock(folder, self);
  try {
    while (!(await lock.tryTake()));
    await removeDead(folder);
    return lock;
  } catch (error) {
    lock.giveUp();
    throw error instanceof ExportError ? error : cannotLock(folder, error);
  }
}

class FolderLock implements Lock {
  readonly #folder: string;
  readonly #self: LockOwner;
  readonly #lock: string;
  /** Names this process, before the chain does. */
  readonly #own: string;
  #socket: { close(): void } | undefined;

  constructor(folder: string, self: LockOwner) {
    this.#folder = folder;
    this.#self = self;
    this.#lock = pathIn(folder, exportPaths.lock);
    this.#own = `${this.#lock}.of.${self.nonce}`;
  }

  /** One try; false when another taker came between. @throws {ExportError} `locked` */
  async tryTake(): Promise<boolean> {
    mkdirSync(dirname(this.#lock), { recursive: true });
    const { owner, free } = endOf(this.#lock);
    if (owner !== undefined && (await isHolding(this.#folder, owner))) throw heldBy(this.#folder, owner);
    // Before anyone sees the owner, who is never to be taken for dead.
    this.#socket = await openLifeSocket(pathIn(this.#folder, exportPaths.lockSocket(this.#self.nonce)));
    if (this.#follow(free)) return true;
    this.#socket?.close();
    return false;
  }

  /** Leaves nothing of a try that failed. */
  giveUp(): void {
    this.#socket?.close();
    if (existsSync(this.#own)) rmSync(this.#own, { force: true });
  }

  async release(): Promise<void> {
    this.#letGo();
  }

  async remove(): Promise<void> {
    if (this.#letGo()) removeEmpty(dirname(this.#lock));
  }

  #follow(free: string): boolean {
    const { nonce } = this.#self;
    try {
      const device = this.#socket === undefined ? {} : { device: deviceOf(this.#folder) };
      writeFileSync(this.#own, ownerLine({ ...this.#self, ...device }));
      linkSync(this.#own, free);
    } catch (error) {
      // Another was first, or took the whole folder away.
      if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return false;
      throw error;
    }
    if (endOf(this.#lock).owner?.nonce !== nonce) {
      rmSync(free, { force: true });
      return false;
    }
    if (free === this.#lock) rmSync(this.#own);
    else renameSync(this.#own, this.#lock);
    return true;
  }

  /** Whether the lock was still this process's. */
  #letGo(): boolean {
    try {
      const isOwn = endOf(this.#lock).owner?.nonce === this.#self.nonce;
      if (isOwn) rmSync(this.#lock, { force: true });
      return isOwn;
    } catch (error) {
      throw diskError(`remove the lock ${this.#lock}`, error);
    } finally {
      this.#socket?.close();
    }
  }
}

/** @throws {ExportError} `locked` when a run holds the export; takes nothing */
export async function requireFree(folder: string): Promise<void> {
  const owner = await lockOwner(folder);
  if (owner !== undefined) throw heldBy(folder, owner);
}

/** The process that holds an export now, or undefined. Does not take the lock. */
export async function lockOwner(folder: string): Promise<LockOwner | undefined> {
  const lock = pathIn(folder, exportPaths.lock);
  const { owner } = endOf(lock);
  return owner !== undefined && (await isHolding(folder, owner)) ? owner : undefined;
}

/** Containers do not see each other's processes: an owner that seems to be dead is asked. */
async function isHolding(folder: string, owner: LockOwner): Promise<boolean> {
  if (isFar(folder, owner)) return true;
  const seemsAlive = owner.host === hostname() && isAlive(owner);
  return seemsAlive || answersAt(pathIn(folder, exportPaths.lockSocket(owner.nonce)));
}

/** Containers have host names of their own, but under the same kernel and in the same file system their sockets can be called. */
function isFar(folder: string, owner: LockOwner): boolean {
  if (owner.host === hostname()) return false;
  return !isOfThisKernel(owner) || owner.device === undefined || owner.device !== deviceOf(folder);
}

function deviceOf(folder: string): number | undefined {
  return statSync(pathIn(folder, exportPaths.run), { throwIfNoEntry: false })?.dev;
}

interface ChainEnd {
  /** The last of the chain; undefined where there is none, or its file is cut. */
  readonly owner: LockOwner | undefined;
  /** The name that the next owner has to link. */
  readonly free: string;
}

/**
 * While this walks along a chain, its winner may put itself at the beginning and take the chain away; a loser that comes late links
 * a name of it for a moment, and would be taken for the owner. So an end counts where the chain still begins as it did.
 */
function endOf(lock: string): ChainEnd {
  for (;;) {
    const beginning = readPlain(lock);
    let end: ChainEnd = { owner: undefined, free: lock };
    for (let text = beginning; text !== undefined; text = readPlain(end.free)) {
      const owner = ownerIn(text);
      end = { owner, free: `${lock}.after.${owner?.nonce ?? `${basename(end.free)}.cut`}` };
    }
    if (readPlain(lock) === beginning) return end;
  }
}

/** No lock can be put over a link, so it is not followed. Undefined where nothing is there. */
function readPlain(path: string): string | undefined {
  let file: number;
  try {
    file = openPlainSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (isNothingThere(error)) return undefined;
    throw error;
  }
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** Takes away the chain, and what takers left who were killed. */
async function removeDead(folder: string): Promise<void> {
  const run = pathIn(folder, exportPaths.run);
  for (const name of readdirSync(run)) {
    const path = join(run, name);
    const isSocket = path.startsWith(pathIn(folder, exportPaths.lockSocket('')));
    if (isSocket ? !(await answersAt(path)) : path.startsWith(pathIn(folder, `${exportPaths.lock}.after.`)))
      rmSync(path, { force: true });
  }
}

/** Removes a folder unless something is in it. */
export function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    // Another run has begun to look at the export.
    if (codeOf(error) === 'ENOTEMPTY' || codeOf(error) === 'ENOENT') return;
    throw diskError(`remove the folder ${folder}`, error);
  }
}

/** Work that is refused leaves no folder on the way to one that was not there, unless something is in it. */
export async function leavingNoFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const absent: string[] = [];
  for (let at = folder; !existsSync(at); at = dirname(at)) absent.push(at);
  try {
    return await work();
  } catch (error) {
    for (const each of absent) removeEmpty(each);
    throw error;
  }
}

function cannotLock(folder: string, error: unknown): ExportError {
  if (refusesLinks(error)) return withoutLinks(folder, 'hard');
  return new ExportError('cannotWrite', `cannot lock ${folder}: ${messageOf(error)}`, {
    todo: 'Free disk space or fix the permission, then run the same command again.',
    facts: { code: codeOf(error) ?? 'unknown' },
    cause: error,
  });
}

function heldBy(folder: string, owner: LockOwner): ExportError {
  const elsewhere = isFar(folder, owner) ? ` If that host is gone, remove ${pathIn(folder, exportPaths.lock)}.` : '';
  // What is no export has no status.
  const isExport = existsSync(pathIn(folder, exportPaths.start));
  const shown = isExport ? ` (${commandLine('status', folder)} shows its progress)` : '';
  return new ExportError('locked', `another run holds ${folder}: process ${owner.pid} on ${owner.host}`, {
    todo: `Wait for it to end${shown}, then run the same command again.${elsewhere}`,
    why: { kind: 'held', host: owner.host, pid: owner.pid },
  });
}
