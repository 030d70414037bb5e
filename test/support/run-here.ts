import { PassThrough, Readable, Writable } from 'node:stream';
import { runCommandLine } from '../../src/cli/command-line.ts';
import type { ProgramOptions, ProgramRun } from './run-program.ts';

type HereOptions = Pick<ProgramOptions, 'cwd' | 'environment' | 'stdin'> & {
  /** Whether stdout is a terminal. */
  readonly onTerminal?: boolean;
  /** What is typed on a terminal, an answer after each question. */
  readonly typed?: readonly string[];
};

let before: Promise<unknown> = Promise.resolve();

/**
 * Runs a command line in this process, as `runProgram` does in one of its own. Runs follow one another: the working folder and the
 * environment are those of the process for that time, because not only the commands read them. Signals, limits, pipes that
 * break and runs at the same time need `runProgram`.
 */
export function runHere(args: readonly string[], options: HereOptions = {}): Promise<ProgramRun> {
  const run = before.then(() => runAlone(args, options));
  before = run.catch(() => undefined);
  return run;
}

async function runAlone(
  args: readonly string[],
  { cwd, environment = {}, stdin = '', onTerminal = false, typed }: HereOptions,
): Promise<ProgramRun> {
  const folder = process.cwd();
  const variables = { ...process.env };
  const [stdout, stderr] = [new Text(), new Text()];
  const atExit: (() => void)[] = [];
  process.chdir(cwd ?? folder);
  setEnvironment({ PATH: variables['PATH'], HOME: cwd, ...environment });
  try {
    const exit = await runCommandLine(args, {
      ...(typed === undefined ? { stdin: Readable.from([Buffer.from(stdin)]), stderr } : typist(typed, stderr)),
      stdout: onTerminal ? Object.assign(stdout, { isTTY: true }) : stdout,
      env: process.env,
      cwd: () => process.cwd(),
      onSignal: () => () => undefined,
      toldToEnd: () => undefined,
      endBy: () => {
        throw new Error('nothing sends a signal to a command that runs here');
      },
      onExit: (listener) => {
        atExit.push(listener);
      },
    });
    return { exit, stdout: stdout.text, stderr: stderr.text };
  } finally {
    for (const listener of atExit) listener();
    setEnvironment(variables);
    process.chdir(folder);
  }
}

/** A terminal on which an answer is typed whenever a question has been shown. */
function typist(typed: readonly string[], shown: Text) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  const answers = [...typed];
  stderr.setEncoding('utf8').on('data', (text: string) => {
    shown.write(text);
    if (!/: \u001b\[\d+G$/.test(shown.text) || answers.length === 0) return;
    const answer = answers.shift() ?? '';
    setImmediate(() => stdin.write(`${answer}\r`));
  });
  return { stdin, stderr };
}

function setEnvironment(variables: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  for (const [name, value] of Object.entries(variables)) if (value !== undefined) process.env[name] = value;
}

/** Keeps what is written to it. */
class Text extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
