import { rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { commandNamed } from '../../src/cli/command-named.ts';
import { commands } from '../../src/cli/commands.ts';
import { errorJson, errorText } from '../../src/cli/output/show-error.ts';
import { parseArguments } from '../../src/cli/parse-arguments.ts';
import { processTerminal } from '../../src/cli/process-terminal.ts';
import { ExportError } from '../../src/lib/export-error.ts';
import { keptFolder } from '../support/temp-folder.ts';

/** Addresses that hold a secret, as people type them where another word belongs. */
const words = [
  'postgres://me:s3cret@127.0.0.1:1/db?password=s3cret',
  'postgres://me:a/s3cret@127.0.0.1:1/db',
  'https://service.example/v3/s3cret',
  'https://hooks.example/services/T1/B2/s3cretabcdefghijklmnop',
  's3://KEY:s3cret@bucket/x',
];
/** The same without a scheme: only as words. */
const bare = ['me:s3cret@host/db', 'service.example/v3/s3cret'];

const job = ['--ids', 'ids.txt', '--url', 'http://127.0.0.1:1', '--out', 'new'];
const before = process.cwd();
let folder: { readonly path: string; readonly remove: () => Promise<void> };

beforeAll(async () => {
  folder = await keptFolder();
  process.chdir(folder.path);
  writeFileSync('ids.txt', '');
});

afterAll(async () => {
  process.chdir(before);
  await folder.remove();
});

/** Everything that a command line prints. */
async function printed([name = '', ...rest]: readonly string[]): Promise<string> {
  let text = '';
  const write = (chunk: unknown): boolean => ((text += String(chunk)), true);
  const spies = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockImplementation(write));
  try {
    const command = await commandNamed(commands, name).load();
    await command.run({ ...parseArguments(name, command, rest), terminal: processTerminal });
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    text += `${errorText(error, folder.path)}\n${JSON.stringify(errorJson(error))}`;
  } finally {
    for (const spy of spies) spy.mockRestore();
    rmSync('new', { recursive: true, force: true });
  }
  return text;
}

it.each(commands.map(({ name }) => name))('%s shows no secret of a misplaced word', async (name) => {
  for (const word of [...words, ...bare]) {
    const lines = [
      [name, word],
      [name, 'a', word],
      [name, 'a', 'b', word],
    ];
    // `demo` and `init` take any name that is free of schemes as a folder.
    if (['demo', 'init'].includes(name) && bare.includes(word)) lines.shift();
    if (['demo', 'init'].includes(name)) lines.shift();
    for (const line of name === 'serve' ? lines.slice(0, 1) : lines) {
      const text = await printed(line);
      expect(text, line.join(' ')).not.toContain('s3cret');
      expect(text.length, line.join(' ')).toBeGreaterThan(0);
    }
  }
});

it('no flag of a job shows a secret of a misplaced word', async () => {
  const plan = await commandNamed(commands, 'plan').load();
  for (const { name, value } of plan.groups.flatMap(({ flags }) => flags).filter((flag) => flag.value !== undefined))
    for (const word of words) {
      const line = ['plan', ...job, `--${name}`, word];
      expect(await printed(line), `${line.join(' ')} ${value ?? ''}`).not.toContain('s3cret');
    }
});

it.each([...words, ...bare])('%s as a command or a flag shows no secret', async (word) => {
  for (const line of [[word], [`--${word}`], ['plan', `--${word}`]])
    expect(await printed(line)).not.toContain('s3cret');
});

it('names with control characters are printed visibly', async () => {
  const name = 'a\u001b]0;x\u0007\nb';
  for (const line of [
    ['status', name],
    ['verify', name],
    ['report', name],
    ['run', name],
    ['plan', '--ids', name, ...job.slice(2)],
  ])
    expect(await printed(line), line[0]).toContain(String.raw`a\x1b]0;x\x07`);
});
