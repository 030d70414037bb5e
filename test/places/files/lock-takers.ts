import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const program = fileURLToPath(new URL('./take-locks.ts', import.meta.url));

/** A process that takes locks when it is told to. */
export interface LockTaker {
  readonly pid: number;
  /** Asks for the export in a folder, and lets go of the one it held. Resolves to `won`, or `locked` and the owner's pid. */
  take(folder: string): Promise<string>;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts one; it ends with the test. */
export async function startLockTaker(): Promise<LockTaker> {
  const child = spawn(process.execPath, ['--import', import.meta.resolve('ts-blank-space/register'), program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  onTestFinished(kill);
  return { pid: pidOf(child), take: (folder) => ask(child, answers, folder), kill };
}

async function ask(child: ChildProcess, answers: AsyncIterator<string>, folder: string): Promise<string> {
  child.stdin?.write(`${folder}\n`);
  const answer = await answers.next();
  if (answer.done === true) throw new Error('The taker of locks ended.');
  return answer.value;
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('The taker of locks did not start.');
  return pid;
}
