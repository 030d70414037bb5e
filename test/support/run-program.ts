import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFailed, TestRunner } from 'vitest';
import { waitsOf } from './hung-program.ts';

/** How a run of the program ended. */
export interface ProgramRun {
  /** Exit status, or the name of the signal that ended it. */
  readonly exit: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** No file may grow beyond so many blocks of 512 bytes: a write is cut there, and the next refused (EFBIG). */
  readonly largestFile?: number;
  /** What the program may have at most, in the words of the shell's `ulimit`: `-n 30`. */
  readonly limit?: string;
  /** Whoever pipes it in hangs after that. */
  readonly stdinStaysOpen?: boolean;
  /** Another program for Node.js, with its flags. */
  readonly program?: readonly string[] | undefined;
}

const builtProgram = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Starts the built program as its own process, with an environment of its own. */
export function startProgram(
  args: readonly string[],
  options: ProgramOptions = {},
): { readonly child: ChildProcess; readonly ended: Promise<ProgramRun> } {
  const { largestFile, limit = largestFile === undefined ? undefined : `-f ${largestFile}` } = options;
  const command = programCommand(args, options.program);
  const confined = limit === undefined ? [] : ['sh', '-c', `ulimit ${limit}; exec "$@"`, 'sh'];
  const [file = '', ...rest] = [...confined, ...command];
  const child = spawn(file, rest, {
    cwd: options.cwd,
    env: { PATH: process.env['PATH'], HOME: options.cwd, ...options.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined);
  child.stdin.write(options.stdin ?? '');
  if (options.stdinStaysOpen !== true) child.stdin.end();
  tellIfHung(child, args);
  return { child, ended: endOf(child) };
}

/** A test that fails while its program runs, at its time limit for example, shows what that said and waits for, and ends it. */
function tellIfHung(child: ChildProcess, args: readonly string[]): void {
  if (TestRunner.getCurrentTest() === undefined) return;
  const startedMs = performance.now();
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (text: Buffer | string) => (said += String(text)));
  onTestFailed(() => {
    if (child.exitCode !== null || child.signalCode !== null || child.killed) return;
    const ranMs = Math.round(performance.now() - startedMs);
    const head = `The program still runs after ${ranMs} ms: asset-export ${args.join(' ')}`;
    console.error(`${head}\n${waitsOf(child.pid ?? 0)}\n  it said:\n${said}`);
    child.kill('SIGKILL');
  });
}

/** What starts the program. */
export function programCommand(args: readonly string[], program: readonly string[] = [builtProgram]): string[] {
  return [process.execPath, ...program, ...args];
}

/** Runs the program to its end. */
export function runProgram(args: readonly string[], options: ProgramOptions = {}): Promise<ProgramRun> {
  return startProgram(args, options).ended;
}

/** Resolves when the program has said this on stderr, from now on. */
export function told(child: ChildProcess, text: string): Promise<void> {
  let said = '';
  return new Promise((resolve) => {
    child.stderr?.on('data', (more: string) => {
      said += more;
      if (said.includes(text)) resolve();
    });
  });
}

/** How a program ends whose output nobody else reads. */
export async function endOf(child: ChildProcess): Promise<ProgramRun> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { exit: code ?? signal ?? -1, stdout, stderr };
}
