import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { codeOf } from '../export-error.ts';

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
