import { readFileSync, writeFileSync } from 'node:fs';
import { runWings } from '../../../src/world/wings.ts';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { RecordTexts } from '../../../src/exports/record-text.ts';
import { readRows } from '../../../src/exports/finished-export.ts';
import { prepareInputs } from '../../../src/core/ids/prepare-inputs.ts';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { planExport } from '../../../src/core/run/plan-export.ts';
import { intolerable } from '../../../src/core/run/tolerance.ts';
import { tables } from '../../../src/core/records/columns.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { readManifest } from '../../../src/places/export/manifest.ts';
import { verifyExport } from '../../../src/exports/verify-export.ts';
import type { NamedRow } from '../../../src/core/records/table.ts';
import { firstNight, night } from '../../support/nights.ts';
import { exportBytes } from '../../support/run-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { sampled } from '../../model/support/sample.ts';

const ids = Array.from({ length: 130 }, (_, n) => generatedId(4, n));
const records = ids.map(generatedRecord);
const allTables = [...tables.map(({ name }) => name), 'changes'].join();

async function rowsOf(folder: string, table: string): Promise<NamedRow[]> {
  const rows: NamedRow[] = [];
  for await (const row of readRows({ files: localDisk, folder, table })) rows.push(row);
  return rows;
}

/** The files of the tables that hold no times. */
function bytesOf(folder: string): [string, string][] {
  return Object.entries(exportBytes(folder)).filter(
    ([path]) =>
      path !== 'manifest.json' &&
      !path.startsWith('unexported/') &&
      !path.includes('/changes/') &&
      !/^(csv|jsonl|parquet)\/assets\//.test(path),
  );
}

function textOf(folder: string, path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}

describe('an export with a base', () => {
  it('does not go on without its base, nor an export without one with it', async () => {
    const [first, second] = [await tempFolder(), await tempFolder()];
    const flags = { format: 'csv', base: 'none' };
    await night({ day: 0, records, ids, out: first, flags });
    await night({ day: 1, records, ids, out: second, flags: { ...flags, base: first } });
    await expect(night({ day: 1, records, ids, out: first, flags: { ...flags, base: second } })).rejects.toMatchObject({
      exit: 'usage',
      message: `base.from was "none" when ${first} started, and is an earlier export now`,
    });
    await expect(night({ day: 1, records, ids, out: second, flags })).rejects.toMatchObject({
      exit: 'usage',
      message: `base.from was an earlier export when ${second} started, and is "none" now`,
    });
  });

  it.each(sampled(['parquet', 'csv', 'jsonl', 'raw'], 4))(
    'carries fresh rows from %s over, byte for byte and without a call',
    async (format) => {
      const [first, second, full] = [await tempFolder(), await tempFolder(), await tempFolder()];
      const idFile = join(await tempFolder(), 'ids.txt');
      const begun = { base: 'none', format: [format, 'csv'], tables: allTables };
      const base = { day: 0, records, ids, idFile, flags: begun };
      await night({ ...base, out: first });
      const formats = format === 'raw' ? 'csv,jsonl,parquet,raw' : 'csv,jsonl,parquet';
      const flags = { format: formats, tables: allTables };
      const all = await night({ ...base, day: 0, out: full, flags: { ...flags, base: 'none' } });
      const outcome = await night({ ...base, records: [], day: 3, out: second, flags: { ...flags, base: first } });
      expect(outcome).toMatchObject({ state: 'complete', sent: 0, callsOfRun: 0, account: { calls: 0, credits: 0 } });
      expect(outcome.account.counts).toMatchObject({ read: 130, exported: 0, carried: 130 });
      expect(all.account.counts).toMatchObject({ exported: 130, carried: 0 });
      // All were requested on the first night: so the bytes of the tables are the same.
      const files = (folder: string) =>
        Object.entries(exportBytes(folder)).filter(([path]) => path !== 'manifest.json');
      expect(files(second)).toEqual(files(full));
      expect((await verifyExport(localDisk, second)).damage).toEqual([]);
    },
  );

  it('takes cells as the base has them: the bytes are those of its records', async () => {
    const [cells, raw, carried, read] = [
      await tempFolder(),
      await tempFolder(),
      await tempFolder(),
      await tempFolder(),
    ];
    const first = { day: 0, records, ids: ids.slice(0, 120) };
    const tables = 'assets,creators';
    await night({ ...first, out: cells, flags: { format: 'jsonl', tables, base: 'none' } });
    await night({ ...first, out: raw, flags: { format: 'jsonl,raw', tables, base: 'none' } });
    const [gone = '', unlisted = ''] = ids;
    const now = records
      .filter((record) => !record.includes(`"id":"${gone}"`))
      .map((record) => record.replace('"burnt":false', '"burnt":true'));
    const second = { day: 2, records: now, ids: ids.filter((id) => id !== unlisted).reverse() };
    const flags = { format: 'jsonl', tables: `${tables},changes`, 'max-age': '2d', 'base-credits': '320' };
    const rebuilt = vi.spyOn(RecordTexts.prototype, 'of');
    const outcome = await night({ ...second, out: carried, flags: { ...flags, base: cells } });
    expect(outcome.account.counts.carried).toBeGreaterThan(50);
    // Only the row that is not listed any more is rebuilt.
    expect(rebuilt).toHaveBeenCalledTimes(1);
    rebuilt.mockRestore();
    await night({ ...second, out: read, flags: { ...flags, base: raw } });
    const lines = (folder: string) => Object.entries(exportBytes(folder)).filter(([path]) => path.startsWith('jsonl/'));
    expect(lines(carried).length).toBeGreaterThan(4);
    expect(lines(carried)).toEqual(lines(read));
    expect((await verifyExport(localDisk, carried)).damage).toEqual([]);
  });

  it('requests what is new and stale, and tells what changed', async () => {
    const [first, second, full] = [await tempFolder(), await tempFolder(), await tempFolder()];
    const flags = { format: 'csv,parquet', tables: allTables };
    const before = ids.slice(0, 120);
    const idFile = join(await tempFolder(), 'ids.txt');
    await night({ day: 0, records: records.slice(0, 120), ids: before, out: first, flags: { ...flags, base: 'none' } });
    // One is gone from the service, one from the ids, ten are new, one has another owner.
    const [gone = '', unlisted = '', changed = ''] = ids;
    const now = records
      .filter((record) => !record.includes(`"id":"${gone}"`))
      .map((record) =>
        record.includes(`"id":"${changed}"`) ? record.replace('"burnt":false', '"burnt":true') : record,
      );
    const listed = ids.filter((id) => id !== unlisted);
    const refreshed = { ...flags, base: first, 'max-age': '2d' };
    const outcome = await night({ day: 2, records: now, ids: listed, idFile, out: second, flags: refreshed });
    await night({ day: 2, records: now, ids: listed, idFile, out: full, flags: { ...flags, base: 'none' } });
    expect(outcome).toMatchObject({ state: 'complete', callsOfRun: 7, sent: 7 });
    expect(outcome.account.counts).toMatchObject({ read: 129, exported: 128, carried: 0, missing: 1 });
    expect(bytesOf(second)).toEqual(bytesOf(full));
    const changes = await rowsOf(second, 'changes');
    expect(changes.filter(({ op }) => op === 'insert').map(({ id }) => id)).toEqual(ids.slice(120));
    expect(changes.filter(({ op }) => op !== 'insert')).toMatchObject([
      { op: 'delete', reason: 'missing', id: gone },
      { op: 'update', reason: null, id: changed, changed: '["burnt"]', before: '{"burnt":false}', burnt: true },
      { op: 'delete', reason: 'unlisted', id: unlisted, interface: null },
    ]);
    const manifest = await readManifest(localDisk, second);
    expect(manifest?.base).toMatchObject({
      asked: { new: 10, failed: 0, missing: 0, stale: 119 },
      overdue: 0,
      lost: 1,
      classes: [{ when: [], rows: 119, asked: 119, changed: 2 }],
    });
    expect((await verifyExport(localDisk, second)).damage).toEqual([]);
  });

  it('carries what the limit of credits does not reach, and requests it on the next night', async () => {
    const [first, second, third] = [await tempFolder(), await tempFolder(), await tempFolder()];
    const flags = { format: 'csv', 'max-age': '1d' };
    await night({ day: 0, records, ids, out: first, flags: { ...flags, base: 'none' } });
    const limited = { ...flags, 'base-credits': '480' };
    const outcome = await night({ day: 1, records, ids, out: second, flags: { ...limited, base: first } });
    expect(outcome).toMatchObject({ state: 'complete', callsOfRun: 3 });
    expect(outcome.account.counts).toMatchObject({ exported: 60, carried: 70 });
    expect(outcome.account.base).toMatchObject({ overdue: 70, asked: { stale: 60 } });
    const next = await night({ day: 2, records, ids, out: third, flags: { ...limited, base: second } });
    expect(next.account.counts).toMatchObject({ exported: 60, carried: 70 });
    const times = (folder: string): string[] =>
      [0, 1, 2, 3]
        .flatMap((part) => textOf(folder, `csv/assets/part-0000${part}.csv`).trimEnd().split('\n').slice(1))
        .map((line) => line.slice(-27, -17));
    const day = (days: number): string => new Date(firstNight + days * 86_400_000).toISOString().slice(0, 10);
    // Those of the first night come first: none of them is carried twice while others are requested twice.
    expect(times(third).filter((time) => time === day(0))).toHaveLength(10);
    expect(times(third).filter((time) => time === day(1))).toHaveLength(60);
  });

  it('resumes where its credits ended, pays for nothing twice and has the same bytes', async () => {
    const [first, whole, cut] = [await tempFolder(), await tempFolder(), await tempFolder()];
    const flags = { format: 'csv,raw', tables: 'assets,changes', 'max-age': '1d', base: first };
    await night({ day: 0, records, ids, out: first, flags: { ...flags, base: 'none' } });
    const now = records.map((record) => record.replace('"mutable":true', '"mutable":false'));
    const idsFile = join(await tempFolder(), 'ids.txt');
    writeFileSync(idsFile, ids.join('\n'));
    const flagsOfAll = { ...flags, ids: idsFile };
    const later = { day: 1, records: now, ids, flags: flagsOfAll };
    const undisturbed = await night({ ...later, out: whole });
    let sent = 0;
    let runs = 0;
    for (let state = 'unfinished'; state === 'unfinished'; runs += 1) {
      const limited = { ...flagsOfAll, 'credits-per-run': '320' };
      // A later run keeps the start of the first one.
      const outcome = await night({ ...later, day: 1 + runs, out: cut, flags: limited });
      if (outcome.error !== undefined) expect(outcome.error.exit).toBe('spent');
      sent += outcome.sent;
      state = outcome.state;
    }
    expect(runs).toBe(4);
    expect(sent).toBe(undisturbed.sent);
    const files = (folder: string) => Object.entries(exportBytes(folder)).filter(([path]) => path !== 'manifest.json');
    expect(files(cut)).toEqual(files(whole));
    const [a, b] = [await readManifest(localDisk, cut), await readManifest(localDisk, whole)];
    expect([a?.counts, a?.calls, a?.credits, a?.base]).toEqual([b?.counts, b?.calls, b?.credits, b?.base]);
  });

  it('takes the last complete export of a pattern, and none is an error before anything is sent', async () => {
    const top = await tempFolder();
    const flags = { format: 'csv', base: join(top, 'date=*') };
    const on = (day: number, more: Readonly<Record<string, unknown>> = {}) =>
      night({ day, records, ids, out: join(top, `date=2026-11-2${day}`), flags: { ...flags, ...more } });
    await expect(on(1)).rejects.toThrow('matches no complete export');
    await on(1, { base: 'none' });
    await on(2);
    await on(4);
    const names = async (day: number) => (await readManifest(localDisk, join(top, `date=2026-11-2${day}`)))?.base?.name;
    expect([await names(2), await names(4)]).toEqual(['date=2026-11-21', 'date=2026-11-22']);
    await on(3);
    expect(await names(3)).toBe('date=2026-11-22');
  });

  it.each([
    [{ 'show-fungible': true }, 'service.flags were'],
    [{ format: 'raw,csv' }, 'the base has no raw files'],
    [{ base: '/nowhere' }, 'is not a complete export'],
  ])('refuses what a base cannot give: %j', async (flags, words) => {
    const [first, second] = [await tempFolder(), await tempFolder()];
    await night({ day: 0, records, ids, out: first, flags: { format: 'csv', base: 'none' } });
    const given = { format: 'csv', base: first, ...flags };
    await expect(night({ day: 1, records, ids, out: second, flags: given })).rejects.toThrow(words);
  });

  it('refuses a base whose files are not those of its manifest', async () => {
    const [first, second] = [await tempFolder(), await tempFolder()];
    await night({ day: 0, records, ids, out: first, flags: { format: 'csv', base: 'none' } });
    const path = join(first, 'csv/assets/part-00001.csv');
    writeFileSync(path, readFileSync(path, 'utf8').replace('true', 'tru3'));
    const outcome = await night({ day: 1, records, ids, out: second, flags: { format: 'csv', base: first } });
    expect(outcome).toMatchObject({ sent: 0, error: { exit: 'damaged' } });
  });

  it('ends with exit 3 when too many of the requested assets are gone', async () => {
    const [first, second] = [await tempFolder(), await tempFolder()];
    await night({ day: 0, records, ids, out: first, flags: { format: 'csv', base: 'none' } });
    const flags = { format: 'csv', base: first, 'max-age': '1d' };
    const outcome = await night({ day: 1, records: records.slice(40), ids, out: second, flags });
    const { job } = loadJob({ flags: { ids: 'a', url: 'http://localhost', out: 'o', ...flags }, folder: '/' });
    expect(intolerable(outcome.account, job)?.exit).toBe('notTolerated');
    expect(intolerable(outcome.account, { ...job, tolerance: { ...job.tolerance, maxMissing: 40 } })).toBeUndefined();
  });

  it('is planned to the call, and asks for a missing id again when it is time', async () => {
    const [first, second, third] = [await tempFolder(), await tempFolder(), await tempFolder()];
    const flags = { format: 'csv', 'max-age': '3d', 'missing-after': '2d' };
    await night({
      day: 0,
      records: records.slice(5),
      ids: ids.slice(0, 110),
      out: first,
      flags: { ...flags, base: 'none' },
    });
    const idsFile = join(await tempFolder(), 'ids.txt');
    writeFileSync(idsFile, ids.join('\n'));
    const given = { ids: idsFile, url: 'http://localhost', out: second, 'ids-per-call': '20', ...flags, base: first };
    const { job, idsFolder } = loadJob({ flags: given, folder: '/' });
    const stdin = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true as const, value: undefined }) }) };
    const prepared = await prepareInputs({ job, idsFolder, files: localDisk, stdin, folder: second });
    const clock = { ...systemClock, now: () => firstNight + 86_400_000 };
    const plan = await planExport({ ...runWings, job, prepared, files: localDisk, clock });
    expect(plan).toMatchObject({ calls: 1, credits: 160, base: { carried: 105, stillMissing: 5, asked: { new: 20 } } });
    const outcome = await night({ day: 1, records, ids, out: second, flags: { ...flags, base: first } });
    expect(outcome).toMatchObject({ callsOfRun: 1, account: { counts: { exported: 20, carried: 105, missing: 5 } } });
    expect(textOf(second, 'unexported/part-00000.csv')).toContain('missing since 2026-11-20, asked again after 2 days');
    const next = await night({ day: 2, records, ids, out: third, flags: { ...flags, base: second } });
    // Five missing ones, and fifteen of the stalest: they fill the call.
    expect(next).toMatchObject({ callsOfRun: 1, account: { counts: { exported: 20, carried: 110, missing: 0 } } });
  });

  it('knows since which minute ids are missing where hours count', async () => {
    const flags = { format: 'csv', 'max-age': 'never', 'missing-after': '12h' };
    const hours = async (hour: number, base: string): Promise<{ out: string; calls: number }> => {
      const out = await tempFolder();
      const { callsOfRun } = await night({
        day: hour / 24,
        records: records.slice(5),
        ids,
        out,
        flags: { ...flags, base },
      });
      return { out, calls: callsOfRun };
    };
    const first = await hours(0, 'none');
    const second = await hours(6, first.out);
    expect(second.calls).toBe(0);
    const reason = 'missing since 2026-11-20T02:00Z, asked again after 12 hours';
    expect(textOf(second.out, 'unexported/part-00000.csv')).toContain(reason);
    const third = await hours(11, second.out);
    expect(third.calls).toBe(0);
    expect((await hours(12, third.out)).calls).toBe(1);
  });

  it('that was stopped is begun anew with --fresh, and takes nothing that was requested before', async () => {
    const [first, second] = [await tempFolder(), await tempFolder()];
    const idsFile = join(await tempFolder(), 'ids.txt');
    writeFileSync(idsFile, ids.join('\n'));
    const flags = { format: 'csv', 'max-age': '1d', base: first, ids: idsFile };
    await night({ day: 0, records, ids, out: first, flags: { ...flags, base: 'none' } });
    const later = { day: 1, records, ids, out: second };
    await night({ ...later, flags: { ...flags, 'credits-per-run': '320' } });
    const fewer = join(await tempFolder(), 'ids.txt');
    writeFileSync(fewer, ids.slice(60).join('\n'));
    const outcome = await night({ ...later, fresh: true, flags: { ...flags, ids: fewer } });
    expect(outcome).toMatchObject({ state: 'complete', sent: 4, account: { calls: 4, counts: { exported: 70 } } });
  });
});
