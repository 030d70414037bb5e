import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../../src/cli/commands/run-command.ts';
import { parseArguments } from '../../../src/cli/parse-arguments.ts';
import type { JobInput } from '../../../src/core/job/job-schema.ts';
import { type JobSources, loadJob } from '../../../src/core/job/load-job.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const least = 'ids: { from: a.txt }\nservice: { url: https://s.example }\noutput: { dir: out }\n';

/** A job file in a folder `jobs` of a fresh working directory. */
async function jobFile(text: string, extra: Partial<JobSources> = {}): Promise<JobSources & { folder: string }> {
  const folder = await tempFolder();
  mkdirSync(join(folder, 'jobs'));
  writeFileSync(join(folder, 'jobs/j.yaml'), text);
  return { file: 'jobs/j.yaml', flags: {}, environment: {}, folder, ...extra };
}

function messageOf(sources: JobSources): string {
  try {
    loadJob(sources);
  } catch (error) {
    if (error instanceof ExportError && error.exit === 'usage') return error.message;
    throw error;
  }
  throw new Error('the job is taken for right');
}

describe('a job', () => {
  it('is filled with the defaults', async () => {
    const { job } = loadJob(await jobFile(least));
    expect(job.service).toMatchObject({ idsPerCall: 1000, concurrency: 'auto', timeoutMs: 60_000, retries: 8 });
    expect(job.budget).toEqual({
      creditsPerCall: 160,
      whenSpent: 'stop',
      freeStatuses: [],
      overrun: ['50%', 'auto'],
    });
    expect(job.output).toMatchObject({ formats: ['parquet'], tables: ['assets'], rowsPerPart: 100_000 });
    expect(job.tolerance).toEqual({
      allowNone: false,
      maxFailed: 0,
      maxInvalid: '50%',
      maxUnlisted: '20%',
      maxUnproven: '100%',
    });
  });

  // Promise, Nothing misread: Unknown job fields, even thousands, are refused at once with file, line and suggestion
  it('takes a value from the flag before the environment, that before the file, and that before the default', async () => {
    const file = `${least}budget: { creditsPerDay: 1 }\n`;
    const environment = { ASSET_EXPORT_CREDITS_PER_DAY: '2' };
    const flags = { 'credits-per-day': '3' };
    const perDay = (sources: JobSources) => loadJob(sources).job.budget.creditsPerDay;
    expect(perDay(await jobFile(least))).toBeUndefined();
    expect(perDay(await jobFile(file))).toBe(1);
    expect(perDay(await jobFile(file, { environment }))).toBe(2);
    expect(perDay(await jobFile(file, { environment, flags }))).toBe(3);
  });

  it('takes an overrun as a percentage, a number of calls, both, or none', async () => {
    const overrun = async (text: string) =>
      loadJob(await jobFile(least, { flags: { overrun: text } })).job.budget.overrun;
    expect(await overrun('50%')).toEqual(['50%']);
    expect(await overrun('250')).toEqual([250]);
    expect(await overrun('12.5%, 1000')).toEqual(['12.5%', 1000]);
    expect(await overrun('none')).toEqual(['none']);
    const file = loadJob(await jobFile(`${least}budget: { overrun: [50%, 250] }\n`));
    expect(file.job.budget.overrun).toEqual(['50%', 250]);
    for (const wrong of ['x', '-3', '1.5', '5,6', '50%,60%', 'none,5']) {
      const sources = await jobFile(least, { flags: { overrun: wrong } });
      expect(messageOf(sources), wrong).toContain(
        '--overrun must be a percentage like 50%, a number of calls like 250 or auto, both, or none, not ',
      );
    }
  });

  it('takes no timeout of more than a day: a timer could not count it, and a call could span three', async () => {
    const flags = { 'timeout-ms': '86400001' };
    const sources = await jobFile(least, { flags });
    expect(messageOf(sources)).toContain('--timeout-ms must be at most 86400000, not 86400001');
  });

  it('takes an empty environment variable for one that is not set', async () => {
    const sources = await jobFile(least, { environment: { ASSET_EXPORT_RETRIES: '' } });
    expect(loadJob(sources).job.service.retries).toBe(8);
  });

  it('starts the paths of a file at its folder, and those of flags and variables at the working directory', async () => {
    const sources = await jobFile(least.replace('https://s.example', 'embedded:records.jsonl'));
    const { folder } = sources;
    const fromFile = loadJob(sources);
    expect(fromFile.job.output.dir).toBe(join(folder, 'jobs/out'));
    expect(fromFile.job.service.url).toBe(`embedded:${join(folder, 'jobs/records.jsonl')}`);
    expect(fromFile.idsFolder).toBe(join(folder, 'jobs'));
    const given = loadJob({
      ...sources,
      flags: { out: 'out', ids: 'b.txt' },
      environment: { ASSET_EXPORT_API_KEY_FILE: 'key' },
    });
    expect(given.job.output.dir).toBe(join(folder, 'out'));
    expect(given.job.service.apiKeyFile).toBe(join(folder, 'key'));
    expect(given.idsFolder).toBe(folder);
  });

  it('starts the files of service.tls at the folder of the job file, which alone can name them', async () => {
    const tls = 'tls: { cert: client.pem, key: /keys/client.key, ca: ../ca.pem }';
    const sources = await jobFile(least.replace('https://s.example', `https://s.example, ${tls}`));
    expect(loadJob(sources).job.service.tls).toEqual({
      cert: join(sources.folder, 'jobs/client.pem'),
      key: '/keys/client.key',
      ca: join(sources.folder, 'ca.pem'),
    });
    const without = async (text: string): Promise<string> =>
      messageOf(await jobFile(least.replace('https://s.example', `https://s.example, ${text}`)));
    expect(await without('tls: { cert: client.pem }')).toContain(
      'service.tls.key must be set when service.tls.cert is set',
    );
    expect(await without('tls: { key: client.key }')).toContain('service.tls.cert must be set');
    expect(await without('tls: { kye: client.key }')).toContain('unknown field "service.tls.kye"');
  });

  it('takes a list as one value, as repeated flags and with commas', async () => {
    const formats = (sources: JobSources) => loadJob(sources).job.output.formats;
    expect(formats(await jobFile(least.replace('dir: out', 'dir: out, formats: csv')))).toEqual(['csv']);
    expect(formats(await jobFile(least, { flags: { format: ['csv', 'raw, jsonl'] } }))).toEqual([
      'csv',
      'raw',
      'jsonl',
    ]);
  });

  it('takes a file of ids by its whole name, comma and all, where there is one', async () => {
    const sources = await jobFile(least);
    writeFileSync(join(sources.folder, 'a,b.txt'), '');
    const from = (ids: unknown, environment = {}) => loadJob({ ...sources, flags: { ids }, environment }).job.ids.from;
    expect(from('a,b.txt')).toEqual(['a,b.txt']);
    expect(from(['a, c.txt,', 'a,b.txt'])).toEqual(['a', 'c.txt', 'a,b.txt']);
    expect(from(undefined, { ASSET_EXPORT_IDS: 'a,b.txt' })).toEqual(['a,b.txt']);
    expect(() => from('')).toThrow('--ids');
    expect(from(['', 'c.txt'])).toEqual(['c.txt']);
    expect(from(join(sources.folder, 'a,b.txt'))).toEqual([join(sources.folder, 'a,b.txt')]);
  });

  it('leaves the commas within the braces of a pattern of ids', async () => {
    const sources = await jobFile(least);
    const from = (ids: unknown, environment = {}) => loadJob({ ...sources, flags: { ids }, environment }).job.ids.from;
    expect(from('data/{a,b}.txt')).toEqual(['data/{a,b}.txt']);
    expect(from('x.txt, {a,{b,c}}/{1..3}.csv ,y.txt')).toEqual(['x.txt', '{a,{b,c}}/{1..3}.csv', 'y.txt']);
    expect(from('a},b.txt')).toEqual(['a}', 'b.txt']);
    expect(from(undefined, { ASSET_EXPORT_IDS: 'data/{a,b}.txt,c' })).toEqual(['data/{a,b}.txt', 'c']);
  });

  it('changes the named pairs and leaves the others', async () => {
    const sources = await jobFile(least.replace('dir: out', 'dir: out, compression: { csv: gzip }'), {
      flags: { compression: ['jsonl=zstd,raw=gzip', 'parquet=none'] },
    });
    expect(loadJob(sources).job.output.compression).toEqual({
      csv: 'gzip',
      jsonl: 'zstd',
      raw: 'gzip',
      parquet: 'none',
    });
  });

  it('changes the pairs that the environment names, and of these the ones that a flag names', async () => {
    const sources = await jobFile(least.replace('dir: out', 'dir: out, compression: { csv: gzip, raw: gzip }'), {
      environment: { ASSET_EXPORT_COMPRESSION: 'jsonl=zstd,csv=zstd' },
      flags: { compression: 'csv=none' },
    });
    expect(loadJob(sources).job.output.compression).toMatchObject({ raw: 'gzip', jsonl: 'zstd', csv: 'none' });
    expect(() => loadJob({ ...sources, environment: { ASSET_EXPORT_COMPRESSION: 'nosuch=gzip' } })).toThrow(
      '--compression with ASSET_EXPORT_COMPRESSION: unknown name "nosuch"; the names are parquet, csv, jsonl, raw',
    );
  });

  it('groups the digits of a number in a flag', async () => {
    const sources = await jobFile(least, { flags: { 'credits-per-day': '3_000_000' } });
    expect(loadJob(sources).job.budget.creditsPerDay).toBe(3_000_000);
  });

  it('takes the last of a flag that is repeated', async () => {
    expect(loadJob(await jobFile(least, { flags: { retries: ['1', '2'] } })).job.service.retries).toBe(2);
  });
});

describe('a job that is wrong', () => {
  it('says what is missing, in the file and as a flag', () => {
    expect(messageOf({ flags: { out: 'x' }, environment: {}, folder: '/' })).toBe(
      'the job has errors:\n  job: ids.from (or --ids) is missing\n  job: service.url (or --url) is missing',
    );
  });

  it('says what to write instead of output.nested, a field and a flag that are gone', async () => {
    expect(messageOf(await jobFile(least.replace('dir: out', 'dir: out, nested: true')))).toBe(
      'jobs/j.yaml:3:21: unknown field "output.nested": write child tables: output.tables: [assets, creators, authorities, grouping, files, attributes]',
    );
    const todo = 'Write child tables: --tables assets,creators,authorities,grouping,files,attributes';
    const sources = await jobFile(least, { flags: { nested: true } });
    expect(() => loadJob(sources)).toThrow(expect.objectContaining({ exit: 'usage', todo }));
    expect(() => parseArguments('run', runCommand, ['--nested'])).toThrow(
      expect.objectContaining({ exit: 'usage', message: 'unknown flag for run: --nested', todo }),
    );
    // @ts-expect-error: no member of a job, so a program with it does not compile.
    expect({ dir: 'out', nested: true } satisfies JobInput['output']).toBeDefined();
  });

  it('names file, line and column of an unknown field, and what was probably meant', async () => {
    const sources = await jobFile(`${least}budget:\n  creditsPerDya: 5\n`);
    expect(messageOf(sources)).toBe(
      'jobs/j.yaml:5:3: unknown field "budget.creditsPerDya"; did you mean budget.creditsPerDay?',
    );
  });

  it('keeps the address of a bucket, and reads scratch relative to the job file', async () => {
    const sources = await jobFile(least.replace('dir: out', 'dir: s3://bucket/out, scratch: here'));
    const { output } = loadJob(sources).job;
    expect([output.dir, output.scratch]).toEqual(['s3://bucket/out', join(sources.folder, 'jobs/here')]);
  });

  it('lists the fields where none is near', async () => {
    expect(messageOf(await jobFile(`${least}colour: red\n`))).toBe(
      'jobs/j.yaml:4:1: unknown field "colour"; the fields are ids, service, budget, base, output, fleet, csv, tolerance, metrics, notify, lineage',
    );
  });

  it('tells every mistake at once, each where it was made', async () => {
    const sources = await jobFile(least.replace('dir: out', 'dir: out, formats: [csv, parqet]'), {
      flags: { concurrency: '0', compression: 'nosuch=gzip' },
      environment: { ASSET_EXPORT_RETRIES: 'many' },
    });
    expect(messageOf(sources).split('\n  ').slice(1).sort()).toEqual([
      '--compression: unknown name "nosuch"; the names are parquet, csv, jsonl, raw',
      '--concurrency must be at least 1, not 0',
      'ASSET_EXPORT_RETRIES must be a number, not "many"',
      'jobs/j.yaml:3:36: output.formats must be one of parquet, csv, jsonl, raw, not "parqet"; did you mean parquet?',
    ]);
  });

  it('has a path that is empty, which is not the current folder', async () => {
    const wrong = async (fields: string, extra: Partial<JobSources> = {}) => messageOf(await jobFile(fields, extra));
    const empty = 'must be a non-empty string';
    expect(await wrong(least, { flags: { out: '' } })).toBe(`--out ${empty}, not ""`);
    expect(await wrong(least.replace('dir: out', 'dir: ""'))).toBe(`jobs/j.yaml:3:11: output.dir ${empty}, not ""`);
    expect(await wrong(least.replace('dir: out', "dir: '${OUT:-}'"))).toContain(`output.dir ${empty}`);
    expect(await wrong(least, { flags: { 'api-key-file': '' } })).toBe(`--api-key-file ${empty}`);
    expect(await wrong(least, { flags: { url: 'embedded:' } })).toBe('--url has no path: write embedded:PATH');
    expect(await wrong(least.replace('https://s.example', '"embedded:"'))).toContain('service.url has no path');
  });

  // Promise, Nothing misread: An address that `run` refuses is refused in `plan` too
  it('has an address that run would refuse, told with its place and without the address', async () => {
    const message = messageOf(await jobFile(least.replace('https://s.example', 'https://s.example/v3/s3cret')));
    expect(message).toContain('jobs/j.yaml:2:12: service.url already holds /v3. Give the base address');
    expect(message).not.toContain('s3cret');
    const flags = { url: 's.example' };
    expect(messageOf(await jobFile(least, { flags }))).toContain('--url does not start with https:// or http://');
  });

  it('names a choice in the wrong letter case, with the right one', async () => {
    const message = messageOf(await jobFile(least.replace('dir: out', 'dir: out, formats: CSV')));
    expect(message).toContain('not "CSV"; did you mean csv?');
  });

  it('with thousands of unknown fields shows the first ones and counts the others, in two seconds of CPU time', async () => {
    const text = `${least}${Array.from({ length: 8000 }, (_, index) => `field${index}: 1\n`).join('')}`;
    const sources = await jobFile(text);
    const before = process.cpuUsage();
    const lines = messageOf(sources).split('\n');
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
    expect(lines).toHaveLength(22);
    expect(lines.at(-1)).toBe('  and 7980 more');
  });

  // Promise, Nothing leaked: No message about a job shows what stands where the key belongs
  it('shows nothing of what stands where the key belongs', async () => {
    const message = messageOf(await jobFile(least.replace('{ url:', '{ apiKeyFile: [s3cret], url:')));
    expect(message).toContain('service.apiKeyFile must be a string');
    expect(message).not.toContain('s3cret');
  });

  it('says that the file is not there', () => {
    expect(messageOf({ file: 'no.yaml', flags: {}, environment: {}, folder: '/' })).toBe(
      'cannot read the job file no.yaml: it does not exist',
    );
  });
});

describe('a job as an object', () => {
  const job = { ids: { from: 'a.txt' }, service: { url: 'https://s.example' }, output: { dir: 'out' } };

  it('needs nothing else, and has the defaults of a job file', () => {
    const loaded = loadJob({ job, folder: '/work' });
    expect(loaded.job).toMatchObject({ ids: { from: ['a.txt'] }, service: { idsPerCall: 1000 } });
    expect(loaded.job.output.dir).toBe('/work/out');
    expect(loaded.idsFolder).toBe('/work');
    expect(loadJob({ job }).job.output.dir).toBe(join(process.cwd(), 'out'));
  });

  // Promise, Nothing misread: The library's `loadJob` takes a typed job and refuses unknown keys and flags
  it('is refused with an unknown key, told with what was probably meant', () => {
    const service = { ...job.service, idsPercall: 100 };
    expect(messageOf({ job: { ...job, service } })).toBe(
      'job: unknown field "service.idsPercall"; did you mean service.idsPerCall?',
    );
    expect(messageOf({ job, flags: { idsPerCall: 100 } })).toBe('unknown flag idsPerCall; did you mean ids-per-call?');
  });
});
