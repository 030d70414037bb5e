import {
  readFileSync,
  readlinkSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname } from 'node:path';
import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { codeOf, ExportError, isNothingThere } from '../export-error.ts';
import { sha256 } from '../hash/sha256.ts';

export const ownerSchema = z.object({
  host: z.string(),
  pid: z.number(),
  /** Start time of the process as the kernel prints it: distinguishes a process that reuses the pid. */
  started: z.string(),
  /** Which start of the machine it belongs to: what was before it is dead. */
  boot: z.string(),
  /** One for each time a lock is asked for: file names are made of it, and none is used twice. */
  nonce: z.string(),
  /** Where its pid means something: containers have namespaces of their own. Absent where there are none. */
  namespace: z.string().optional(),
  /** The device of the folder where it listens; absent where sockets cannot be made. */
  device: z.number().optional(),
});

/** The process that holds an export or tries to take it. */
export type LockOwner = z.infer<typeof ownerSchema>;

export function ownerLine(owner: LockOwner): string {
  return `${JSON.stringify(owner)}\n`;
}

/** The owner that a lock file names; undefined when a loss of power left something else in it. */
export function ownerIn(text: string): LockOwner | undefined {
  try {
    return ownerSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** This process, asking under `nonce`. */
export function thisProcess(nonce: string): LockOwner {
  const { pid } = process;
  const namespace = pidNamespace();
  const started = stateOf(pid)?.started ?? '';
  return { host: hostname(), pid, started, boot: bootId(), nonce, ...(namespace === undefined ? {} : { namespace }) };
}

/** An owner on another host cannot be looked at, and counts as alive. */
export function isAlive(owner: LockOwner): boolean {
  if (owner.host !== hostname()) return true;
  if (owner.boot !== bootId()) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // A process of another user may reuse the pid: its start time shows that too.
    if (codeOf(error) !== 'EPERM') return false;
  }
  const state = stateOf(owner.pid);
  if (state === undefined || owner.started === '') return true;
  return state.started === owner.started && !state.ended;
}

/** The same of an owner that cannot be asked: one in another container counts as alive. */
export function mayBeAlive(owner: LockOwner): boolean {
  const isElsewhere = owner.namespace !== undefined && !isOfThisNamespace(owner);
  return isAlive(owner) || (isElsewhere && isOfThisKernel(owner));
}

/** Whether its pid means the same process here. */
function isOfThisNamespace(owner: LockOwner): boolean {
  return owner.namespace === pidNamespace();
}

/** Whether it is of this start of this machine, whatever host it names. */
export function isOfThisKernel(owner: LockOwner): boolean {
  return owner.boot !== '' && owner.boot === bootId();
}

/** Fields 3 and 22 of /proc/PID/stat; undefined where there is no /proc. See proc(5). */
function stateOf(pid: number): { readonly started: string; readonly ended: boolean } | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A process that ended and whose parent has not asked for its status yet is a zombie: it will write no more.
  return fields === undefined ? undefined : { started: fields[19] ?? '', ended: /^[ZXx]/.test(fields[0] ?? '') };
}

function bootId(): string {
  return textOf('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

/** See pid_namespaces(7). */
function pidNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Added to the name of a socket that does not listen yet. */
export const openingSuffix = '.opening';

/**
 * Shows that this process is alive where pids cannot: containers that share a folder do not see each other's processes. The kernel
 * accepts calls to a process that is busy or stopped, and refuses them as soon as the process has ended, however it ended.
 *
 * Listens at a path that nobody had before. The name appears once the socket listens: between bind and listen it would refuse
 * calls as the socket of a dead process does.
 * @returns undefined where the system or the file system has no such sockets
 */
export async function openLifeSocket(path: string): Promise<{ close(): void } | undefined> {
  for (let attempts = 3; attempts > 0; attempts -= 1) {
    const server = createServer((caller) => caller.destroy()).unref();
    // A caller only needs the kernel's answer. A call that cannot be accepted here does not matter.
    server.on('error', () => undefined);
    try {
      await listenAt(server, `${path}${openingSuffix}`);
      renameSync(`${path}${openingSuffix}`, path);
      return {
        close: () => {
          closeAt(server, path);
        },
      };
    } catch (error) {
      server.close();
      // Another process cleaned up and removed the name before the socket listened: try again.
      if (codeOf(error) !== 'ENOENT') return undefined;
    }
  }
  return undefined;
}

async function listenAt(server: Server, path: string): Promise<void> {
  await inFolder(path, async (short) => {
    server.listen({ path: short, exclusive: true, writableAll: true });
    await once(server, 'listening');
  });
}

function closeAt(server: Server, path: string): void {
  server.close();
  try {
    rmSync(path, { force: true });
  } catch {
    // A socket that nobody listens at belongs to a dead process. The next owner removes it.
  }
}

/** Whether the process that opened the socket is alive; false where there is no socket. */
export async function answersAt(path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  try {
    await inFolder(path, async (short) => {
      const call = connect({ path: short });
      await once(call, 'connect');
      call.destroy();
    });
    return true;
  } catch (error) {
    // Any other error comes from a live process: too many calls at once, or no permission.
    return codeOf(error) !== 'ECONNREFUSED' && codeOf(error) !== 'ENOENT';
  }
}

/** The path of a socket is limited to about 100 bytes; through its open folder it is as short as its name. See unix(7). */
async function inFolder(path: string, work: (short: string) => Promise<void>): Promise<void> {
  const folder = openSync(dirname(path), constants.O_RDONLY);
  try {
    await work(`/proc/self/fd/${folder}/${basename(path)}`);
  } finally {
    closeSync(folder);
  }
}

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
