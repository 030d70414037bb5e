import { createHash } from 'node:crypto';
import { readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { codeOf, ExportError, isNothingThere } from '../export-error.ts';
import { isAlive, isOfThisKernel, isOfThisNamespace, type LockOwner, ownerIn } from './lock-owner.ts';

export interface Exclusion {
  /** Path of the lock; no file is there while the lock is free. */
  readonly path: string;
  readonly self: LockOwner;
  /** Waits before the next try; about a millisecond by default. */
  readonly pause?: () => Promise<unknown>;
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
 * @throws {ExportError} `locked`; what `work` throws; what the disk says
 */
export async function exclusively<T>(exclusion: Exclusion, work: (requireHeld: () => void) => T): Promise<T> {
  const { path, self, pause = shortPause } = exclusion;
  let standing = { text: '', tries: 0 };
  for (;;) {
    taken += 1;
    const own = JSON.stringify({ ...self, nonce: `${self.nonce}.${taken}` });
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
      if (standing.tries % triesPerLook === 0 && isOver(text, standing.tries)) {
        const after = `${path}.after.${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
        await exclusively({ ...exclusion, path: after }, () => {
          removeLink(path, text);
        });
        continue;
      }
      if (standing.tries > mostTries) throw heldFor(path, ownerIn(text));
    }
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

/** Whether the owner of a link does no more work under it. */
function isOver(text: string, tries: number): boolean {
  const owner = ownerIn(text);
  const isHere = owner !== undefined && owner.host === hostname() && isOfThisKernel(owner) && isOfThisNamespace(owner);
  return isHere ? !isAlive(owner) : tries >= unknownOwnerTries;
}

function heldFor(path: string, owner: LockOwner | undefined): ExportError {
  const who = owner === undefined ? 'another program' : `process ${owner.pid} on ${owner.host}`;
  return new ExportError('locked', `${who} has held ${path} for a minute`, {
    todo: 'Wait for that process or stop it, then run the same command again.',
  });
}
