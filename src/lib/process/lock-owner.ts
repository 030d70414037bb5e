import { readFileSync, readlinkSync, closeSync, constants, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { codeOf } from '../export-error.ts';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname } from 'node:path';

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

/**
 * Shows that this process is alive where pids cannot: containers that share a folder do not see each other's processes. The kernel
 * accepts calls to a process that is busy or stopped, and refuses them as soon as the process has ended, however it ended.
 */
export interface LifeSocket {
  close(): void;
}

/** Added to the name of a socket that does not listen yet. */
export const openingSuffix = '.opening';

/**
 * Listens at a path that nobody had before. The name appears once the socket listens: between bind and listen it would refuse
 * calls as the socket of a dead process does.
 * @returns undefined where the system or the file system has no such sockets
 */
export async function openLifeSocket(path: string): Promise<LifeSocket | undefined> {
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
