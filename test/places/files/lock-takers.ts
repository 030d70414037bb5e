import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

/** A process that takes locks when it is told to. */
export interface LockTaker {
  readonly pid: number;
  /** Asks for the export in a folder, and lets go of the one it held. Resolves to `won`, or `locked` and the owner's pid. */
  take(folder: string): Promise<string>;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts one, of the bundled `take-locks.ts`; it ends with the test. */
export async function startLockTaker(program: string): Promise<LockTaker> {
  const child = spawn(process.execPath, [program], {
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
