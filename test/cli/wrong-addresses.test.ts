import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandNamed } from '../../src/cli/command-named.ts';
import { commands } from '../../src/cli/commands.ts';
import { parseArguments } from '../../src/cli/parse-arguments.ts';
import { processTerminal } from '../../src/cli/process-terminal.ts';
import { readRows } from '../../src/exports/finished-export.ts';
import { jobSchema, jobWarnings } from '../../src/core/job/job-schema.ts';
import { loadJob } from '../../src/core/job/load-job.ts';
import { ExportError } from '../../src/lib/export-error.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { statusInOneCall } from '../../src/library/calls.ts';
import { verifyExport } from '../../src/exports/verify-export.ts';
import { startService } from '../../src/practice-service.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { type WrongAddress, wrongAddresses } from '../support/wrong-addresses.ts';

const job = ['--ids', 'ids.txt', '--url', 'http://127.0.0.1:1'] as const;
const output = ['run', 'plan', 'rehearse', 'enqueue', 'init'].flatMap((name) => [[name, ...job, '--out', 'ADDRESS']]);

/** Every place of the command line that takes an address. */
const places: readonly (readonly string[])[] = [
  ...output,
  ['run', ...job, '--out', 'new', '--base', 'ADDRESS'],
  ['plan', ...job, '--out', 'new', '--base', 'ADDRESS'],
  ['run', '--ids', 'ADDRESS', '--url', 'http://127.0.0.1:1', '--out', 'new'],
  ['plan', '--ids', 'ADDRESS', '--url', 'http://127.0.0.1:1', '--out', 'new'],
  ['run', ...job, '--out', 'new', '--scratch', 'ADDRESS'],
  ['run', ...job, '--out', 'new', '--api-key-file', 'ADDRESS'],
  ['run', ...job, '--out', 'new', '--metrics-file', 'ADDRESS'],
  ['run', 'ADDRESS'],
  ['credits', '--state-dir', 'ADDRESS'],
  ['demo', 'ADDRESS'],
  ['init', 'ADDRESS', '--yes'],
  ['serve', '--assets', 'ADDRESS'],
  ['serve', '--assets', 'records.jsonl', 'ADDRESS'],
  ['serve', '--assets', 'records.jsonl', '--store', 'ADDRESS'],
  ['status', 'ADDRESS'],
  ['verify', 'ADDRESS'],
  ['verify', 'ADDRESS', '--repair'],
  ['prune', 'ADDRESS', '--keep-last', '1'],
  ['report', 'ADDRESS'],
  ['report', 'old', '--to', 'ADDRESS'],
  ['load', 'ADDRESS', '--to', 'duckdb:new.duckdb'],
  ['load', 'old', '--to', 'ADDRESS'],
  ['load', 'old', '--to', 'duckdb:ADDRESS'],
  ['rebuild', 'ADDRESS', '--out', 'new'],
  ['rebuild', 'old', '--out', 'ADDRESS'],
  ['diff', 'ADDRESS', 'old'],
  ['diff', 'old', 'ADDRESS'],
  ['diff', 'old', 'old', '--out', 'ADDRESS'],
  ['schema', '--for', 'duckdb', '--folder', 'ADDRESS'],
];

/** What is no mistake at a place. */
function isRight(place: readonly string[], address: WrongAddress): boolean {
  const at = place.findIndex((word) => word.endsWith('ADDRESS'));
  const flag = place[at - 1] ?? '';
  if (address === '-') return flag === '--ids' || (flag === '--to' && place[0] === 'report');
  if (flag === '--to' && place[0] === 'load' && place[at] === 'ADDRESS') return /^(postgres|duckdb:x)/.test(address);
  const isPattern = /^(--ids|--assets|--scratch|--store|--state-dir|--api-key-file|--metrics-file)$/.test(flag);
  const isLocal = ['run', 'init', 'serve'].includes(place[0] ?? '') || place[at] !== 'ADDRESS';
  return (
    (isPattern || (isLocal && !flag.startsWith('--out') && flag !== '--base')) &&
    /[{}]/.test(address) &&
    !address.startsWith('$')
  );
}

const cases = places.flatMap((place) =>
  (Object.keys(wrongAddresses) as WrongAddress[])
    .filter((address) => !isRight(place, address))
    .map((address) => ({ line: place.join(' '), argv: place.map((word) => word.replace('ADDRESS', () => address)) })),
);

const exitOf = (error: unknown): string => (error instanceof ExportError ? error.exit : String(error));

let folder: { readonly path: string; readonly remove: () => Promise<void> };
const before = process.cwd();

beforeAll(async () => {
  folder = await keptFolder();
  process.chdir(folder.path);
  writeFileSync('ids.txt', '');
  writeFileSync('records.jsonl', '');
  mkdirSync('old');
});

afterAll(async () => {
  process.chdir(before);
  await folder.remove();
});

/** The places of the library. */
const library: Readonly<Record<string, (address: string) => unknown>> = {
  'loadJob output.dir': (dir) => loadJob({ job: { ...least, output: { dir } } }),
  'loadJob base.from': (from) => loadJob({ job: { ...least, base: { from } } }),
  'loadJob ids.from': (from) => loadJob({ job: { ...least, ids: { from: ['a.txt', from] } } }),
  'jobSchema output.dir': (dir) => jobSchema.parse({ ...least, output: { dir } }),
  verifyExport: (address) => verifyExport(localDisk, address),
  exportStatus: (out) => statusInOneCall({ out }),
  readRows: (address) => readRows({ files: localDisk, folder: address }).next(),
  startService: (address) => startService({ assets: [address], clock: systemClock, host: '127.0.0.1', port: 0 }),
};
const least = { ids: { from: 'a.txt' }, service: { url: 'http://127.0.0.1:1' }, output: { dir: 'new' } };

describe('a name that was meant for another place ends with exit 2, before anything is read or made', () => {
  it.each(places.map((place) => place.join(' ')))('%s', async (line) => {
    const outcomes: Record<string, string> = {};
    for (const { argv } of cases.filter((each) => each.line === line)) {
      const [name = '', ...rest] = argv;
      const command = await commandNamed(commands, name).load();
      const exit = await Promise.resolve()
        .then(() => command.run({ ...parseArguments(name, command, rest), terminal: processTerminal }))
        .catch(exitOf);
      if (exit !== 'usage') outcomes[argv.join(' ')] = String(exit);
    }
    expect(outcomes).toEqual({});
    expect(readdirSync('.').sort()).toEqual(['ids.txt', 'old', 'records.jsonl']);
    expect(readdirSync('old')).toEqual([]);
  });

  it('in a job file, and in the environment', () => {
    for (const address of Object.keys(wrongAddresses)) {
      const flags = { ids: 'a.txt', url: 'http://127.0.0.1:1' };
      expect(() => loadJob({ flags, environment: { ASSET_EXPORT_OUT: address } })).toThrow(/^ASSET_EXPORT_OUT /);
      // `${NAME}` is replaced in a job file.
      writeFileSync('job.yaml', JSON.stringify({ ...least, output: { dir: address.replace('${HOME}', '$HOME') } }));
      expect(() => loadJob({ file: 'job.yaml' })).toThrow(/^job\.yaml:1:\d+: output\.dir /);
    }
  });

  it.each(Object.keys(library))('%s', async (name) => {
    for (const address of ['gcs://bucket/x', 'S3://bucket/x', 's3:b', '$HOME/x', 'https://host/y', 'postgres://h/d']) {
      const exit = await Promise.resolve()
        .then(() => library[name]?.(address))
        .catch(exitOf);
      expect(exit).toMatch(/^usage$|begins|without|not replaced/);
    }
  });
});

it('an output folder with the name of a file is a warning, and ./ takes any other name as it is', () => {
  const jobTo = (dir: string) => loadJob({ job: { ...least, output: { dir } } }).job;
  expect(jobWarnings(jobTo('out.csv'))).toEqual([expect.stringContaining('out.csv')]);
  expect(jobWarnings(jobTo('out'))).toEqual([]);
  expect(jobTo('./s3:x').output.dir).toBe(join(process.cwd(), 's3:x'));
  expect(jobTo('file:///d/x').output.dir).toBe('/d/x');
});

it('a leading ~/ is the home folder in every field of a job', () => {
  const text = '~/x';
  const { job: loaded } = loadJob({
    job: {
      ids: { from: [text] },
      service: { url: `embedded:${text}`, apiKeyFile: text },
      output: { dir: text, scratch: text },
      base: { from: text },
      metrics: { file: text },
    },
  });
  const home = join(process.env['HOME'] ?? '', 'x');
  expect(loaded.ids.from).toEqual([home]);
  expect(loaded.service).toMatchObject({ url: `embedded:${home}`, apiKeyFile: home });
  expect(loaded.output).toMatchObject({ dir: home, scratch: home });
  expect(loaded.base.from).toBe(home);
  expect(loaded.metrics.file).toBe(home);
  expect(existsSync('~')).toBe(false);
});
