import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createMemoryLedger,
  exportAssets,
  type ExportError,
  type ExportOptions,
  exportStatus,
  getAssets,
  listIds,
  planExport,
  readRows,
  startService,
  systemClock,
  verifyExport,
} from '../src/index.ts';
import { tempFolder } from './support/temp-folder.ts';

const data = fileURLToPath(new URL('../data', import.meta.url));
const ids = (readFileSync(join(data, 'ids.txt'), 'utf8').match(/\b\w{43,44}\b/g) ?? []).slice(0, 20);

/** An export of a few ids from local records, with a ledger of its own. */
async function smallOptions(): Promise<ExportOptions & { readonly url: string; readonly out: string }> {
  const folder = await tempFolder();
  writeFileSync(join(folder, 'ids.txt'), `${ids.join('\n')}\n`);
  const assets = [join(data, 'assets.jsonl.gz')];
  const service = await startService({ assets, host: '127.0.0.1', port: 0, clock: systemClock });
  onTestFinished(() => service.close());
  return {
    ids: 'ids.txt',
    cwd: folder,
    url: service.url,
    out: join(folder, 'out'),
    formats: ['csv'],
    env: { ASSET_EXPORT_API_KEY: 'canary-key' },
    job: { ids: { from: 'ids.txt' }, service: { url: service.url, idsPerCall: 10 }, output: { dir: 'other' } },
    world: { ledger: createMemoryLedger() },
  };
}

describe('the library', () => {
  it('plans, exports, continues, tells, verifies and reads in one call each', async () => {
    const options = await smallOptions();
    expect(await planExport(options)).toMatchObject({ read: 20, calls: 2, credits: 320 });
    const heard: string[] = [];
    const outcome = await exportAssets({ ...options, onEvent: ({ kind }) => heard.push(kind) });
    expect(outcome).toMatchObject({ state: 'complete', exitCode: 0, calls: 2, credits: 320, counts: { read: 20 } });
    expect(outcome.error).toBeUndefined();
    expect(outcome.files.map(({ format }) => format)).toContain('csv');
    expect(heard).toContain('committed');
    expect(options.env).toEqual({ ASSET_EXPORT_API_KEY: 'canary-key' });
    expect(await exportAssets(options)).toMatchObject({ state: 'already', callsOfRun: 0, exitCode: 0 });
    const { out } = options;
    expect(await exportStatus({ out })).toMatchObject({ state: 'complete', counts: outcome.counts });
    expect(await verifyExport({ out })).toMatchObject({ damage: [] });
    const rows: unknown[] = [];
    for await (const row of readRows({ out })) rows.push(row['id']);
    expect(rows).toHaveLength(outcome.counts.exported);
    expect(await planExport(options)).toMatchObject({ calls: 0 });
  });

  it('throws what is wrong before anything begins, and gives a later error with its account', async () => {
    const options = await smallOptions();
    await expect(exportAssets({ ...options, url: 'service.example' })).rejects.toMatchObject({ exit: 'usage' });
    const budget = { creditsPerNight: 1 } as ExportOptions['budget'] & object;
    await expect(exportAssets({ ...options, budget })).rejects.toMatchObject({
      message: 'budget.creditsPerNight is not a field of a job',
    });
    await expect(exportAssets({ ...options, env: {} })).rejects.toMatchObject({ exit: 'usage' });
    const unread = { ...options, ids: 'nofile.txt', out: join(options.out, 'deep') };
    await expect(exportAssets(unread)).rejects.toMatchObject({ exit: 'input' });
    expect(existsSync(options.out)).toBe(false);
    const typo = { ...options, formatz: ['csv'] } as ExportOptions;
    await expect(exportAssets(typo)).rejects.toMatchObject({
      message: 'unknown member formatz; did you mean formats?',
    });
    // @ts-expect-error sinks is no member
    await expect(exportAssets({ ...options, sinks: [] })).rejects.toMatchObject({
      exitCode: 2,
      message: 'unknown member sinks',
      todo: 'Write your format from readRows({ out, table }) when the export is complete.',
    });
    const named = { folder: options.out } as never;
    for (const call of [exportStatus, verifyExport, (given: never) => readRows(given).next()])
      await expect(call(named)).rejects.toMatchObject({ exit: 'usage', message: 'unknown member folder' });
    await expect(readRows({} as never).next()).rejects.toMatchObject({ exit: 'usage', message: 'out is missing' });
    await expect(exportAssets({ ...options, formats: [] })).rejects.toMatchObject({ exit: 'usage' });
    await expect(exportStatus({ out: options.out })).rejects.toMatchObject({ exit: 'usage' });
    expect(await exportAssets({ ...options, budget: { creditsPerRun: 160, whenSpent: 'stop' } })).toMatchObject({
      state: 'unfinished',
      exitCode: 8,
      error: { exit: 'spent' },
      calls: 1,
    });
    const stop = new AbortController();
    const stopped = await exportAssets({
      ...options,
      job: {
        ids: { from: 'ids.txt' },
        service: { url: options.url, idsPerCall: 5, concurrency: 1 },
        output: { dir: '.' },
      },
      out: `${options.out}-stopped`,
      stop: stop.signal,
      onEvent: ({ kind }) => {
        if (kind === 'sent') stop.abort();
      },
    });
    const failing = await exportAssets({
      ...options,
      out: `${options.out}-deaf`,
      onEvent: ({ kind }) => {
        if (kind === 'committed') throw new Error('deaf');
      },
    });
    expect(failing).toMatchObject({ exitCode: 1, error: { message: 'onEvent failed: deaf' }, calls: 2 });
    expect(stopped).toMatchObject({ state: 'unfinished', exitCode: 130, calls: 1, fetched: 5 });
  });

  // Promise, Nothing leaked: Errors of the library name its members, not flags
  it('names its members in errors, where the command names flags', async () => {
    const options = await smallOptions();
    const { cwd = '', out } = options;
    writeFileSync(join(cwd, 'two.csv'), `Name,One,Two\n${ids.map((id) => `x,${id},${id}`).join('\n')}\n`);
    const see = 'See asset-export help job for every field.';
    const wrong: readonly (readonly [object, string, string])[] = [
      [{ formats: ['xlsx' as 'csv'] }, 'formats must be one of parquet, csv, jsonl, raw, not "xlsx"', see],
      [{ budget: { creditsPerRun: -1 } }, 'budget.creditsPerRun must be at least 0, not -1', see],
      [{ ids: undefined, job: {} }, 'job: ids.from (or ids) is missing', see],
      [{ ids: 'two.csv' }, 'has 2 columns of ids', 'Name the one with the asset ids: job.ids.column One'],
      [{ env: {} }, 'no API key given', 'name it with apiKeyFile,'],
    ];
    for (const [part, message, todo] of wrong) {
      const given = { ...options, ...part } as ExportOptions;
      const error = await exportAssets(given).then(
        (outcome) => outcome.error,
        (thrown: unknown) => thrown as ExportError,
      );
      expect(error?.message).toContain(message);
      expect(error?.todo).toContain(todo);
      expect(`${error?.message} ${error?.todo}`).not.toContain('--');
    }
    await expect(planExport({ ...options, formats: ['xlsx' as 'csv'] })).rejects.toThrow('formats must be');
    await exportAssets(options);
    // A command line is for a shell.
    await expect(exportAssets({ ...options, tables: ['assets', 'files'] })).rejects.toMatchObject({
      todo: `It is complete. To write its records anew for no credits: asset-export rebuild ${out} --tables assets,files --out NEW
Another output folder and fresh request all ids again.`,
    });
    await expect(readRows({ out, table: 'files' }).next()).rejects.toMatchObject({
      todo: 'Name a table of the export, or export this table with tables in one of these formats.',
    });
    const keyless = { url: options.url, cwd, env: {} };
    const lists = () => listIds({ ...keyless, collection: ids[0] ?? '', out: 'list.txt' });
    for (const call of [lists, () => getAssets({ ...keyless, ids }).next()])
      await expect(call()).rejects.toSatisfy(
        ({ todo }: ExportError) => todo?.includes('name it with apiKeyFile,') === true,
      );
  });

  it('exports from local records without a key, and looks assets up', async () => {
    const { cwd = '', url, env = {}, world = {} } = await smallOptions();
    const embedded = `embedded:${join(data, 'assets.jsonl.gz')}`;
    const outcome = await exportAssets({
      ids: 'ids.txt',
      cwd,
      url: embedded,
      out: 'local',
      formats: ['jsonl'],
      env: {},
    });
    expect(outcome).toMatchObject({ state: 'complete', folder: join(cwd, 'local') });
    // A folder of other files is left alone, and so is the working directory by a look-up.
    mkdirSync(join(cwd, 'foreign'));
    writeFileSync(join(cwd, 'foreign/letter.txt'), 'x');
    const foreign = exportAssets({ ids: 'ids.txt', cwd, url: embedded, out: 'foreign', fresh: true, env: {} });
    await expect(foreign).rejects.toMatchObject({ exit: 'usage' });
    expect(readdirSync(join(cwd, 'foreign'))).toEqual(['letter.txt']);
    const ledger = createMemoryLedger();
    const clock = { ...systemClock, now: () => Date.UTC(2026, 2, 14) };
    const dated = { ids: 'ids.txt', cwd, url: embedded, out: 'nights/{date}', env: {}, world: { ledger, clock } };
    expect(await exportAssets(dated)).toMatchObject({ folder: join(cwd, 'nights/2026-03-14'), credits: 160 });
    expect(await ledger.booked('2026-03-14')).toBe(160);
    expect(readdirSync(join(cwd, 'nights'))).toEqual(['2026-03-14']);
    const looked = getAssets({ ids: ids.slice(0, 1), url: embedded, cwd, env: {} });
    expect(await looked.next()).toMatchObject({ value: { id: ids[0] } });
    await looked.return();
    expect(existsSync(join(cwd, '.run'))).toBe(false);
    const found: string[] = [];
    for await (const { id, lookup } of getAssets({ ids: ids.slice(0, 3), url, env, world }))
      if (lookup.kind === 'found') found.push(id);
    expect(found).toEqual(ids.slice(0, 3));
  });
});
