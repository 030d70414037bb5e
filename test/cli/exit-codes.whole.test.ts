import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/lib/exit-codes.ts';
import { runHere } from '../support/run-here.ts';
import { keptFolder } from '../support/temp-folder.ts';

const data = fileURLToPath(new URL('../../data/', import.meta.url));
const made = ['--url', `embedded:${data}assets.jsonl.gz`, '--ids', 'ids.txt', '--format', 'csv,raw'];

let folder: { readonly path: string; readonly remove: () => Promise<void> };
const run = (...words: string[]) => runHere(words, { cwd: folder.path });

beforeAll(async () => {
  folder = await keptFolder();
  const at = (name: string): string => join(folder.path, name);
  const ids = (await readFile(`${data}ids.txt`, 'utf8')).split('\n').slice(0, 40);
  await writeFile(at('ids.txt'), ids.join('\n'));
  await mkdir(at('empty'));
  await mkdir(at('foreign'));
  await writeFile(at('foreign/x.csv'), 'x\n');
  expect((await run('run', ...made, '--out', 'good')).exit).toBe(0);
  await cp(at('good'), at('nights/2026-11-01'), { recursive: true });
  await cp(at('good'), at('damaged'), { recursive: true });
  const manifest = await readFile(at('good/manifest.json'), 'utf8');
  await writeFile(at('damaged/manifest.json'), manifest.replace(/"read": \d+/, '"read": 7'));
  const few = ['--ids-per-call', '10', '--credits-per-run', '160', '--out'];
  expect((await run('run', ...made, ...few, 'unfinished')).exit).toBe(8);
  await cp(at('unfinished'), at('begun/2026-11-01'), { recursive: true });
});

afterAll(() => folder.remove());

/** Every command that takes an export, with X in its place. */
const commands = [
  'verify X',
  'verify X --repair',
  'verify X --json',
  'rebuild X --out new',
  'report X',
  'load X --to duckdb:new.duckdb',
  'diff good X',
  'diff X good',
  'schema --of X',
  'schema --of X --for duckdb',
  'status X',
  'status X --json',
];
/** These describe an export that is not finished, as they do a folder of them. */
const describing = /^(status|report)/;

describe.each(commands)('%s', (command) => {
  it.each([
    ['nothing', 2],
    ['empty', 2],
    ['foreign', 2],
    // Loads what the tables lack of them.
    ['nights', /^(status|load)/.test(command) ? 0 : 2],
    ['unfinished', describing.test(command) ? 0 : 13],
    ['damaged', 12],
  ])('of %s ends with %i', async (what, code) => {
    const { exit, stderr } = await run(...command.replace('X', what).split(' '));
    expect([exit, stderr]).toEqual([code, code === 0 ? expect.anything() : expect.stringMatching(/^asset-export: /)]);
    if (code === 13) expect(stderr).toContain('asset-export status unfinished');
  });
});

it.each([
  ['serve --assets unfinished --port 0', 13],
  ['lake begun --publish', 13],
  ['lake foreign --publish', 2],
  [`run ${made.join(' ')} --out new --base unfinished`, 13],
])('%s', async (line, code) => {
  const { exit, stderr } = await run(...line.split(' '));
  expect([exit, stderr]).toEqual([code, expect.stringMatching(/is not finished|has no complete export/)]);
});

it('each code has one meaning, whatever the command', () => {
  for (const { meaning } of Object.values(exitCodes)) expect(meaning).not.toMatch(/\b(for|of) [a-z]+( --[a-z-]+)?: /);
});
