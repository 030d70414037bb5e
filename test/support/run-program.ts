import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

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
  const command = [process.execPath, ...(options.program ?? [builtProgram]), ...args];
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
  return { child, ended: endOf(child) };
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

async function endOf(child: ChildProcess): Promise<ProgramRun> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { exit: code ?? signal ?? -1, stdout, stderr };
}
