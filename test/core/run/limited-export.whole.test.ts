import { inFolder } from '../../../src/core/run/homes/export-place.ts';
import { existsSync, readlinkSync } from 'node:fs';
import { runWings } from '../../../src/world/wings.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { statusTable, statusText } from '../../../src/cli/output/status-text.ts';
import { summaryText } from '../../../src/cli/output/summary-text.ts';
import { prepareInputs } from '../../../src/core/ids/prepare-inputs.ts';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import { statusAt } from '../../../src/wings/status/export-status.ts';
import { folderNights } from '../../../src/wings/nights/folder-nights.ts';
import { planPruning } from '../../../src/wings/nights/prune-exports.ts';
import { planExport } from '../../../src/core/run/plan-export.ts';
import { readExportReport } from '../../../src/wings/report/report-export.ts';
import { reportPage } from '../../../src/wings/report/page/page.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { readManifest } from '../../../src/places/export/manifest.ts';
import { goodAnswer, writeSmallIds } from '../../model/support/small-export.ts';
import { steps } from '../../model/support/small-fleet.ts';
import { idEntries } from '../../support/id-file.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { noBytes, runExport } from '../../support/run-export.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** 30 ids in two files, and exports of them in a folder. */
async function lists() {
  const folder = await tempFolder();
  const entries = idEntries({ entries: 30 });
  await writeFile(join(folder, 'a.txt'), `${entries.slice(0, 20).join('\n')}\n`);
  await writeFile(join(folder, 'b.csv'), `mint\n${entries.slice(20).join('\n')}\n`);
  const service = await startGeneratedService();
  onTestFinished(() => service.stop());
  const flagsOf = (out: string, more: Readonly<Record<string, unknown>>) => ({
    ids: [join(folder, 'a.txt'), join(folder, 'b.csv')],
    url: service.url,
    out: join(folder, out),
    format: 'csv',
    'ids-per-call': '5',
    threads: '1',
    ...more,
  });
  const run = (out: string, more: Readonly<Record<string, unknown>> = {}) => runExport({ flags: flagsOf(out, more) });
  const plan = async (out: string, more: Readonly<Record<string, unknown>>) => {
    const { job, idsFolder } = loadJob({ flags: flagsOf(out, more), environment: {}, folder: '/' });
    const prepared = await prepareInputs({ job, idsFolder, files: localDisk, stdin: noBytes(), folder });
    return planExport({ ...runWings, job, prepared, files: localDisk });
  };
  return { folder, run, plan, calls: () => service.counts().calls };
}

async function errorOf(running: Promise<unknown>): Promise<ExportError> {
  try {
    await running;
  } catch (error) {
    if (error instanceof ExportError) return error;
    throw error;
  }
  throw new Error('no error');
}

const said = 'the first 22 ids only (--limit)';

// Promise, Nothing misread: An export of the first ids is no `latest`, no base by pattern, no night to prune
describe('an export of the first ids', () => {
  it('reads these alone, over all files, and is complete', async () => {
    const { run, plan, calls } = await lists();
    expect(await plan('out', { limit: '22' })).toMatchObject({ limit: 22, read: 22, valid: 22, calls: 5 });
    const outcome = await run('out', { limit: '22' });
    expect(outcome).toMatchObject({ state: 'complete', account: { limit: 22, counts: { read: 22, exported: 22 } } });
    expect(calls()).toBe(5);
    expect(await run('out', { limit: '22' })).toMatchObject({ state: 'already', account: { limit: 22 } });
    expect(await plan('out', { limit: '22' })).toMatchObject({ calls: 0 });
  });

  it('says so in its manifest, summary, status and report', async () => {
    const { folder, run } = await lists();
    const outcome = await run('out', { limit: '22' });
    const out = join(folder, 'out');
    expect((await readManifest(localDisk, out))?.job['ids.limit']).toBe(22);
    expect(summaryText(outcome, 'out')).toContain(said);
    const status = await statusAt(inFolder(localDisk, out), Date.now());
    expect(statusText(status, 'out')).toContain(said);
    expect(statusTable([{ shown: 'out', status }])).toContain(said);
    const data = await readExportReport({
      place: inFolder(localDisk, out),
      nowMs: 0,
      version: '1',
      extent: 'none',
    });
    expect(data.limit).toBe(22);
    expect(reportPage(data)).toContain(said);
  });

  it('says so when it is stopped and resumed', async () => {
    const { folder, run } = await lists();
    const job = { limit: '22', 'rows-per-part': '10' };
    const stopped = await run('out', { ...job, 'credits-per-run': '320' });
    expect(stopped).toMatchObject({ state: 'unfinished', account: { limit: 22 } });
    expect(await statusAt(inFolder(localDisk, join(folder, 'out')), Date.now())).toMatchObject({
      state: 'stopped',
      limit: 22,
      counts: { read: 10 },
      total: 22,
      inputShare: expect.closeTo(10 / 22) as number,
    });
    expect(await run('out', job)).toMatchObject({
      state: 'complete',
      account: { counts: { exported: 22 } },
    });
  });

  it('is not the export of other ids: the same folder with another limit, or none, is refused', async () => {
    const { run, plan } = await lists();
    await run('out', { limit: '22' });
    await run('all');
    for (const [out, more] of [
      ['out', { limit: '21' }],
      ['out', {}],
      ['all', { limit: '30' }],
    ] as const) {
      for (const make of [run, plan]) {
        const { exit, message } = await errorOf(make(out, more));
        expect([exit, message]).toEqual(['usage', expect.stringContaining('ids.limit was')]);
      }
    }
  });

  it('moves no latest, and is no base by pattern; named directly it is one', async () => {
    const { folder, run } = await lists();
    await run('nights/1', { latest: true, base: 'none' });
    await run('nights/2', { latest: true, base: 'none', limit: '20' });
    expect(readlinkSync(join(folder, 'nights/latest'))).toBe('1');
    const night = await run('nights/3', { base: join(folder, 'nights/*') });
    expect(night.account.base?.name).toBe('1');
    const direct = await run('other', { base: join(folder, 'nights/2') });
    expect(direct.account.counts).toMatchObject({ carried: 20, exported: 10 });
    await run('alone/1', { latest: true, limit: '5' });
    expect(existsSync(join(folder, 'alone/latest'))).toBe(false);
  });

  it('with a base requests all that is new among its ids', async () => {
    const { folder, run } = await lists();
    await run('first', { base: 'none', limit: '5' });
    const outcome = await run('second', { base: join(folder, 'first'), limit: '20' });
    expect(outcome.account.counts).toMatchObject({ read: 20, carried: 5, exported: 15 });
  });

  it('is no night that prune counts or removes', async () => {
    const { folder, run } = await lists();
    await run('nights/2026-11-20');
    await run('nights/2026-11-21');
    await run('nights/2026-11-22', { limit: '5' });
    const rules = { last: 1, daily: 0, weekly: 0, monthly: 0 };
    const pruning = await planPruning(folderNights(localDisk, join(folder, 'nights')), rules, {
      today: '2026-12-31',
    });
    expect(pruning.removed.map(({ name }) => name)).toEqual(['2026-11-20']);
    expect(pruning.kept).toContainEqual({ name: '2026-11-22', reasons: ['limited to its first ids'] });
  });

  it('needs --out where the job has a folder for each day', () => {
    const job = { ids: { from: 'a.txt' }, service: { url: 'embedded:x' }, output: { dir: 'out/{date}' } };
    const load = (flags: Readonly<Record<string, unknown>>) => loadJob({ job, flags, folder: '/' });
    expect(() => load({ limit: '5' })).toThrow('--limit needs --out DIR');
    expect(() => loadJob({ job: { ...job, ids: { ...job.ids, limit: 5 } }, folder: '/' })).toThrow(
      'job: ids.limit needs --out DIR',
    );
    expect(() => loadJob({ job, flags: { limit: '5' }, environment: { ASSET_EXPORT_OUT: 'o/{date}' } })).toThrow(
      '--out',
    );
    expect(load({ limit: '5', out: '/tmp/trial' }).job.ids.limit).toBe(5);
    expect(load({}).job.ids.limit).toBeUndefined();
  });
});

describe('ids that were not exported', () => {
  it('are exported from the files of unexported/, by the outcomes asked for', async () => {
    const { folder, run } = await lists();
    const list = join(folder, 'list.csv');
    const ids = idEntries({ entries: 4 });
    const rows = ['missing', 'failed', 'duplicate', 'invalid'].map((outcome, at) => `${ids[at] ?? ''},${outcome},,a,1`);
    await writeFile(list, ['id,outcome,reason,source,line', ...rows, ''].join('\n'));
    expect((await run('out', { ids: list })).account.counts).toMatchObject({ read: 2, exported: 2 });
    expect((await run('more', { ids: list, outcome: 'failed,duplicate,invalid' })).account.counts).toMatchObject({
      read: 3,
    });
    const { exit, message } = await errorOf(run('out', { ids: list, outcome: 'failed' }));
    expect([exit, message]).toEqual(['usage', expect.stringContaining('ids.outcome was ["missing","failed"]')]);
    expect(await run('out', { ids: list, outcome: 'missing,failed' })).toMatchObject({ state: 'already' });
  });
});

describe('a pattern of ids', () => {
  it('passes over what the export has written, on any day, with a warning', async () => {
    const { folder, run } = await lists();
    await run('out/2026-11-20', { ids: join(folder, 'a.txt') });
    const warnings: string[] = [];
    const outcome = await runExport({
      flags: {
        ids: join(folder, '**/*.csv'),
        url: 'http://127.0.0.1:9',
        out: join(folder, 'out/{date}'),
        retries: '0',
        format: 'csv',
      },
      context: { listener: (event) => event.kind === 'warning' && warnings.push(event.message) },
    });
    expect(outcome.columns.map(({ input }) => input)).toEqual([join(folder, 'b.csv')]);
    expect(warnings.join()).toMatch(/\*\*\/\*\.csv: 2 files under .*out\/\{date\} not read/);
  });
});

describe('a fleet', () => {
  it('puts slices of the first ids alone, whose workers and end say so', async () => {
    const fleet = await smallFleet();
    await fleet('enqueue', { limit: '9' });
    expect((await errorOf(fleet('work', {}))).message).toContain('ids.limit was 9');
    expect((await errorOf(fleet('enqueue', { limit: '8' }))).message).toContain('ids.limit was 9');
    expect((await fleet('work', { limit: '9' })).account).toMatchObject({ limit: 9, counts: { read: 9 } });
  });
});

/** Commands of a fleet over the small list. */
async function smallFleet() {
  const folder = await tempFolder();
  const ids = writeSmallIds(folder);
  const bucket = new MemoryObjects();
  return (command: 'enqueue' | 'work', more: Readonly<Record<string, unknown>>) =>
    runExport({
      flags: {
        ids,
        out: 's3://bucket/fleet',
        url: 'http://127.0.0.1:9',
        'ids-per-call': '4',
        'rows-per-part': '11',
        format: 'csv',
        scratch: join(folder, 'scratch'),
        'entries-per-slice': '12',
        threads: '1',
        ...more,
      },
      make: steps[command](),
      context: {
        openStore: async () => bucket.open(),
        openWire: () => ({ ask: async (call) => goodAnswer(call), close: () => Promise.resolve() }),
      },
    });
}
