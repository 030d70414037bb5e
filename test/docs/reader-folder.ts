import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { terminalCommand } from '../../docs/terminal-command.ts';
import { shellWord } from '../../src/lib/addresses/shown-text.ts';
import { FakeTerminal } from '../cli/progress/fake-terminal.ts';
import { runsAll } from '../support/lane.ts';
import { runHere } from '../support/run-here.ts';
import { type PlainCommands, plainCommands } from './plain-commands.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const query = fileURLToPath(new URL('duckdb-shell.ts', import.meta.url));

export interface ReaderFolder {
  readonly path: string;
  /** Folders to put before PATH: the commands that a reader has. */
  readonly bin: string;
  readonly serviceUrl: string;
}

/** What a reader has after a checkout: jobs and sample data, and the commands that the papers use. */
export async function readerFolder(folder: string, serviceUrl: string): Promise<ReaderFolder> {
  const path = join(folder, 'project');
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  await mkdir(path, { recursive: true });
  for (const name of ['data', 'jobs', 'package.json'])
    await cp(join(root, name), join(path, name), { recursive: true });
  for (const job of readdirSync(join(path, 'jobs'))) {
    const file = join(path, 'jobs', job);
    await writeFile(file, withService(await readFile(file, 'utf8'), serviceUrl));
  }
  // The package knows itself by its name.
  await symlink(join(root, 'dist'), join(path, 'dist'));
  const main = join(root, 'dist/main.js');
  const start = await startScript();
  await writeCommand(bin, 'asset-export', `exec "${process.execPath}" "${main}" "$@"`);
  // What is installed is this very tree: \`npm ci\` and \`npm test\` are what runs this test.
  await writeCommand(
    bin,
    'npm',
    `case "$1" in ci|test) exit 0;; start) exec ${start.replace('node dist/main.js', `"${process.execPath}" "${main}"`)};; *) exit 64;; esac`,
  );
  const loader = import.meta.resolve('ts-blank-space/register');
  await writeCommand(bin, 'duckdb', `exec "${process.execPath}" --import "${loader}" "${query}" "$@"`);
  return { path, bin, serviceUrl };
}

const readerEnvironment = { ASSET_EXPORT_API_KEY: 'any', TERM: 'xterm' };

/** What hangs is killed, after so many seconds, so that what it printed is seen, and nothing of it goes on. */
const patience = 55;

/**
 * Runs lines of shell as a reader would type them; `/srv/assets` is a folder of the reader. On a terminal the output is what
 * that shows in the end. Plain commands run in this process, which saves the start of a shell and of the program: `npm run
 * test:all` starts them too.
 */
export async function runBlock(
  text: string,
  reader: ReaderFolder,
  onTerminal = false,
): Promise<{ exit: number; output: string }> {
  const script = withService(text, reader.serviceUrl).replaceAll('/srv/assets', join(reader.path, 'assets'));
  const plain = runsAll || onTerminal ? undefined : plainCommands(script);
  if (plain !== undefined) return runPlain(plain, reader);
  const command = ['bash', '-euo', 'pipefail', '-c', `exec 2>&1\n${script}`];
  const own = onTerminal ? terminalCommand(command.map(shellWord).join(' ')) : command;
  // `timeout` makes a process group, no session: beside busy programs a new session may get a tenth of a core.
  const args = ['-s', 'KILL', String(patience), ...own];
  const path = `${reader.bin}:${process.env['PATH'] ?? ''}`;
  const shell = spawn('timeout', args, {
    cwd: reader.path,
    env: { PATH: path, HOME: reader.path, ...readerEnvironment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  shell.stdout.setEncoding('utf8').on('data', (more: string) => (output += more));
  const [code] = (await once(shell, 'close')) as [number | null];
  return { exit: code ?? -1, output: onTerminal ? shownOn(output) : output };
}

/** As `bash -e` does: the first command that fails is the last. */
async function runPlain(
  { environment, commands }: PlainCommands,
  { path }: ReaderFolder,
): Promise<{ exit: number; output: string }> {
  let output = '';
  for (const args of commands) {
    const run = await runHere(args, { cwd: path, environment: { ...readerEnvironment, ...environment } });
    output += run.stderr + run.stdout;
    if (run.exit !== 0) return { exit: Number(run.exit), output };
  }
  return { exit: 0, output };
}

function shownOn(output: string): string {
  const terminal = new FakeTerminal(80);
  terminal.write(output.replaceAll('\r', ''));
  return terminal.shown().join('\n');
}

/** The papers' service is one that answers. */
export function withService(text: string, serviceUrl: string): string {
  return text.replaceAll('https://service.example', serviceUrl);
}

async function startScript(): Promise<string> {
  const content = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  return content.scripts.start;
}

async function writeCommand(bin: string, name: string, line: string): Promise<void> {
  const file = join(bin, name);
  await writeFile(file, `#!/bin/sh\n${line}\n`);
  await chmod(file, 0o755);
}
