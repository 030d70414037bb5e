import { createHash } from 'node:crypto';
import { readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { sha256 } from '../hash/sha256.ts';
import { codeOf, ExportError, isNothingThere } from '../export-error.ts';
import { isAlive, type LockOwner } from './lock-owner.ts';

export interface Exclusion {
  /** Path of the lock; no file is there while the lock is free. */
  readonly path: string;
  readonly self: LockOwner;
  /** Waits before the next try; about a millisecond by default. */
  readonly pause?: () => Promise<unknown>;
  /** Aborted: a lock that another process holds is not waited for. */
  readonly abort?: AbortSignal | undefined;
}

/** Thrown by `requireHeld` in work that lost its lock; the work is then done again from its beginning. */
class LostLock extends Error {}

/**
 * How often a lock is looked at, about 1.6 ms apart, before its owner counts as dead although this process cannot look at
 * the owner (another container or machine). Work takes less than a millisecond, and asks `requireHeld` before each write.
 */
const unknownOwnerTries = 1_000;

/** An owner that stays is looked at again after so many tries. */
const triesPerLook = 16;

/** How often a lock is tried before a living owner (stopped by a debugger, say) is reported. */
const mostTries = 50_000;

let taken = 0;

/**
 * Does `work` while no other process does its own under the same path. The lock is a symbolic link whose target names
 * the owner: the kernel makes it whole, and for one process alone. `work` is synchronous, so the lock is held for its
 * system calls only, and two callers within one process never wait for each other.
 *
 * A dead owner's link is removed under a lock of its own, `<path>.after.<hash of the link>`, by somebody who has looked at
 * the link again there. No link's text is used twice, so the lock of a living owner is never removed by mistake.
 * @throws {ExportError} `locked`; what `work` throws; what the disk says; the reason of `abort`
 */
export async function exclusively<T>(exclusion: Exclusion, work: (requireHeld: () => void) => T): Promise<T> {
  const { path, self, pause = shortPause, abort } = exclusion;
  let standing = { text: '', tries: 0 };
  for (;;) {
    taken += 1;
    const own = ownerLink(self, taken);
    if (isTaken(path, own)) {
      try {
        return work(() => {
          if (targetOf(path) !== own) throw new LostLock();
        });
      } catch (error) {
        if (!(error instanceof LostLock)) throw error;
      } finally {
        removeLink(path, own);
      }
    }
    const text = targetOf(path);
    if (text !== undefined) {
      standing = { text, tries: text === standing.text ? standing.tries + 1 : 0 };
      if (standing.tries % triesPerLook === 0 && isOver(text, self, standing.tries)) {
        const after = `${path}.after.${sha256(text).slice(0, 16)}`;
        await exclusively({ ...exclusion, path: after }, () => {
          removeLink(path, text);
        });
        continue;
      }
      if (standing.tries > mostTries) throw heldFor(path, text);
    }
    abort?.throwIfAborted();
    await pause();
  }
}

async function shortPause(): Promise<void> {
  await setTimeout(1 + Math.random());
}

function isTaken(path: string, own: string): boolean {
  try {
    symlinkSync(own, path);
    return true;
  } catch (error) {
    // A network file system may repeat a request whose answer was lost.
    if (codeOf(error) === 'EEXIST') return targetOf(path) === own;
    throw error;
  }
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (isNothingThere(error)) return undefined;
    throw error;
  }
}

function removeLink(path: string, text: string): void {
  try {
    if (targetOf(path) === text) unlinkSync(path);
  } catch (error) {
    if (!isNothingThere(error)) throw error;
  }
}

/**
 * What a link says of its owner: pid, start, where these mean something, and which of its locks it is. At most 59 bytes: file
 * systems keep so few in the link's own entry. ext4 gives longer ones a block, and whoever removes the link waits until that is
 * on the disk, for milliseconds where much is written.
 */
export function ownerLink(owner: LockOwner, lock: number): string {
  const { pid, started, nonce } = owner;
  return `${pid}.${started}.${placeOf(owner)}.${digest(nonce).slice(0, 8)}.${lock.toString(36)}`;
}

/** Equal for owners on one start of one machine, in one container. */
function placeOf({ host, boot, namespace }: LockOwner): string {
  return digest(JSON.stringify([host, boot, namespace])).slice(0, 12);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Whether the owner of a link does no more work under it. */
function isOver(text: string, self: LockOwner, tries: number): boolean {
  const [pid, started = '', place] = text.split('.');
  return place === placeOf(self) ? !isAlive({ ...self, pid: Number(pid), started }) : tries >= unknownOwnerTries;
}

function heldFor(path: string, text: string): ExportError {
  return new ExportError('locked', `process ${text.split('.')[0]} has held ${path} for a minute`, {
    todo: 'Wait for that process or stop it, then run the same command again.',
  });
}
