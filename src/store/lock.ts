import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { open } from 'lmdb';
import { codeOf, ExportError } from '../lib/export-error.ts';
import { exportPaths, pathIn } from './export-folder.ts';

/** Who holds an export. */
export interface LockOwner {
  readonly host: string;
  readonly pid: number;
  /** When the process started, in the kernel's words: a pid that was given to another process is told apart. */
  readonly started: string;
}

/** Held by the one run that may change an export. */
export interface Lock {
  release(): Promise<void>;
}

const key = 'owner';

/**
 * Takes an export for this process. The owner is kept in an lmdb file, whose transactions a dead process cannot block:
 * of two that find a dead owner, exactly one wins.
 * @throws {ExportError} `locked`, naming the owner
 */
export async function takeLock(folder: string, self: LockOwner = thisProcess()): Promise<Lock> {
  const store = openStore(folder);
  const owner = store.transactionSync(() => {
    const current = store.get(key);
    if (current !== undefined && isAlive(current)) return current;
    store.putSync(key, self);
    return undefined;
  });
  if (owner !== undefined) {
    await store.close();
    throw heldBy(folder, owner);
  }
  return {
    release: async () => {
      store.transactionSync(() => {
        const current = store.get(key);
        if (current?.pid === self.pid && current.host === self.host) store.removeSync(key);
      });
      await store.close();
    },
  };
}

/** Who holds an export now, or undefined. Takes nothing. */
export async function lockOwner(folder: string): Promise<LockOwner | undefined> {
  if (!existsSync(pathIn(folder, exportPaths.lock))) return undefined;
  const store = openStore(folder, true);
  try {
    const owner = store.get(key);
    return owner !== undefined && isAlive(owner) ? owner : undefined;
  } finally {
    await store.close();
  }
}

export function thisProcess(): LockOwner {
  return { host: hostname(), pid: process.pid, started: startOf(process.pid) ?? '' };
}

function openStore(folder: string, readOnly = false) {
  return open<LockOwner, string>({
    path: pathIn(folder, exportPaths.lock),
    noSubdir: true,
    encoding: 'json',
    readOnly,
  });
}

/** An owner on another host cannot be looked at, and counts as alive. */
function isAlive(owner: LockOwner): boolean {
  if (owner.host !== hostname()) return true;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
  const started = startOf(owner.pid);
  return started === undefined || owner.started === '' || started === owner.started;
}

/** Field 22 of /proc/PID/stat, clock ticks since boot; undefined where there is no /proc. See proc(5). */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function heldBy(folder: string, owner: LockOwner): ExportError {
  const elsewhere =
    owner.host === hostname() ? '' : ` If that host is gone, remove ${pathIn(folder, exportPaths.lock)}.`;
  return new ExportError('locked', `another run holds ${folder}: process ${owner.pid} on ${owner.host}`, {
    todo: `Wait for it to end (asset-export status ${folder} shows how far it is), then run the same command again.${elsewhere}`,
    facts: { host: owner.host, pid: owner.pid },
  });
}
