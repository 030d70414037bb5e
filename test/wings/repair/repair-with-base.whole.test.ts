import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSource, rebuildExport, rebuiltJob } from '../../../src/wings/repair/rebuild/rebuild-export.ts';
import { verifyExport } from '../../../src/exports/verify-export.ts';
import { diskFileStore } from '../../../src/places/files/file-store.ts';
import { night } from '../../support/nights.ts';
import { runExport } from '../../support/run-export.ts';
import {
  allIds,
  cutFile,
  first,
  loseTables,
  manifestIn,
  newer,
  nightsOfFile,
  repairCounted,
  rowsIn,
  second,
  tablesIn,
} from './based-nights.ts';

const twoNights = nightsOfFile();

const secondMs = Date.UTC(2026, 10, 22, 2);

async function expectWhole(out: string): Promise<void> {
  expect((await verifyExport(diskFileStore, out)).damage).toEqual([]);
  expect(existsSync(join(out, '.run'))).toBe(false);
}

/** How many rows of a part were carried: they are as old as the first night. */
async function carriedRows(out: string, part: number): Promise<number> {
  return (await rowsIn(out, 'assets', part)).filter(({ fetched_at: time }) => time !== secondMs * 1000).length;
}

describe('a repair of an export with a base', () => {
  it('takes the carried rows of a damaged part from the base, and pays for the requested ids alone', async () => {
    const { out, where, whole, manifest } = await twoNights();
    const carried = await carriedRows(out, 1);
    expect(carried).toBeGreaterThan(3);
    loseTables(out, 1);
    const shown = await repairCounted({ flags: where, pays: false });
    const calls = Math.ceil((40 - carried) / 20);
    expect(shown).toMatchObject({ rebuilt: [], parts: [], sent: 0, bill: { calls, credits: calls * 160 }, notes: [] });
    expect(existsSync(join(out, '.run'))).toBe(false);
    expect(await repairCounted({ flags: where })).toMatchObject({ parts: [1], sent: calls, ...shown.bill });
    await expectWhole(out);
    // The service says what it said then.
    expect(tablesIn(out)).toEqual(whole);
    const after = await manifestIn(out);
    expect(after).toEqual({ ...manifest, calls: manifest.calls + calls, credits: manifest.credits + calls * 160 });
  });

  it('fills calls with the ids of all damaged parts, and keeps what the service says now', async () => {
    const again = newer.map((record) => record.replace('"frozen":false', '"frozen":true'));
    const { out, where, manifest } = await twoNights({}, again);
    const before = [await rowsIn(out, 'assets', 0), await rowsIn(out, 'assets', 3)];
    for (const part of [0, 1, 2, 3]) loseTables(out, part);
    const { asked } = manifest.base ?? {};
    expect(asked).toMatchObject({ new: 20, stale: 80 });
    expect(await repairCounted({ flags: where })).toMatchObject({ parts: [0, 1, 2, 3], sent: 5, bill: { calls: 5 } });
    await expectWhole(out);
    const after = await manifestIn(out);
    const changes = await rowsIn(out, 'changes');
    const updates = changes.filter(({ op }) => op === 'update');
    expect(updates.length).toBeGreaterThan(60);
    expect(after.counts).toEqual(manifest.counts);
    expect(after.base).toMatchObject({ asked, classes: [{ rows: 108, asked: 80, changed: updates.length }] });
    // A requested row is as old as before: it was requested later, never earlier.
    for (const [at, part] of [0, 3].entries()) {
      const now = await rowsIn(out, 'assets', part);
      expect(now.map(({ id, fetched_at: time }) => [id, time])).toEqual(
        before[at]?.map(({ id, fetched_at: time }) => [id, time]),
      );
      const carried = (row: (typeof now)[number]) => row['fetched_at'] !== secondMs * 1000;
      expect(now.filter(carried)).toEqual(before[at]?.filter(carried));
      expect(now.filter((row) => !carried(row)).every((row) => row['frozen'] !== false)).toBe(true);
    }
    expect(changes.filter(({ op }) => op === 'insert')).toHaveLength(20);
    expect(changes.filter(({ reason }) => reason === 'unlisted').map(({ id }) => id)).toEqual([allIds[0]]);
  });

  it('costs nothing for a part of which every row was carried', async () => {
    const { out, where, whole } = await twoNights({ 'max-age': '9d', format: 'csv,parquet' });
    loseTables(out, 1);
    cutFile(out, 'unexported/part-00001.csv');
    const outcome = await repairCounted({ flags: { ...where, url: 'http://127.0.0.1:9' }, pays: false });
    expect(outcome).toMatchObject({ parts: [], sent: 0, notes: [] });
    expect(outcome.rebuilt).toHaveLength(7);
    expect(outcome.bill).toBeUndefined();
    await expectWhole(out);
    expect(tablesIn(out)).toEqual(whole);
  });

  it('rebuilds changes, and reasons of missing ids, from the base and the rest of the part', async () => {
    const { out, where, whole } = await twoNights();
    for (const part of [0, 2, 3]) loseTables(out, part, ['changes']);
    cutFile(out, 'unexported/part-00000.csv');
    const outcome = await repairCounted({ flags: where, pays: false });
    expect(outcome.bill).toBeUndefined();
    expect(outcome.rebuilt).toHaveLength(7);
    await expectWhole(out);
    expect(tablesIn(out)).toEqual(whole);
  });

  it('rebuilds tables from raw, with the times of the carried rows', async () => {
    const { out, where, whole } = await twoNights({ format: 'raw,csv' });
    rmSync(join(out, 'csv'), { recursive: true });
    const outcome = await repairCounted({ flags: where, pays: false });
    expect(outcome.bill).toBeUndefined();
    expect(outcome.rebuilt).toHaveLength(12);
    await expectWhole(out);
    expect(tablesIn(out)).toEqual(whole);
  });

  it('of one that was rebuilt keeps its source in the manifest', async () => {
    const { top, out, where } = await twoNights();
    const rebuilt = join(top, 'rebuilt');
    const source = await openSource(out, diskFileStore);
    const job = rebuiltJob(source, rebuilt, { formats: ['csv'] });
    await runExport({
      flags: { ...where, out: rebuilt },
      make: (_, context) => rebuildExport({ source, job, join: 1, fresh: false }, context),
    });
    const [whole, manifest] = [tablesIn(rebuilt), await manifestIn(rebuilt)];
    expect(manifest.rebuilt).toBeDefined();
    rmSync(join(rebuilt, 'csv/assets/part-00001.csv'));
    const outcome = await repairCounted({ flags: { ...where, out: rebuilt } });
    expect(outcome).toMatchObject({ parts: [1], sent: outcome.bill?.calls, notes: [] });
    await expectWhole(rebuilt);
    expect(tablesIn(rebuilt)).toEqual(whole);
    const { calls, credits } = await manifestIn(rebuilt);
    expect(await manifestIn(rebuilt)).toEqual({ ...manifest, calls, credits });
  });

  it('finds a base that was moved where it is told, or beside the export', async () => {
    const { top, base, out, where, whole } = await twoNights();
    const moved = join(top, 'elsewhere');
    for (const [path, from] of [
      [base, undefined],
      [base, join(top, 'date=*')],
      [moved, moved],
      [moved, join(top, '*')],
    ] as const) {
      if (!existsSync(path)) renameSync(base, path);
      loseTables(out, 1);
      const outcome = await repairCounted({ flags: { ...where, ...(from === undefined ? {} : { base: from }) } });
      expect(outcome).toMatchObject({ parts: [1], notes: [], after: { damage: [] } });
      expect(tablesIn(out)).toEqual(whole);
    }
  });

  it.each([
    ['is gone', 'was not found'],
    ['is another export now', 'another export replaced it'],
    ['is not wanted', 'base.from is none'],
  ])('requests every id where the base %s, and says so', async (how, words) => {
    const { base, out, where, manifest } = await twoNights();
    rmSync(base, { recursive: true });
    if (how === 'is another export now') await night({ ...first, out: base, flags: { base: 'none', format: 'csv' } });
    const before = await rowsIn(out, 'assets', 0);
    const carried = await carriedRows(out, 1);
    loseTables(out, 1);
    const flags = { ...where, ...(how === 'is not wanted' ? { base: 'none' } : {}) };
    const shown = await repairCounted({ flags, pays: false });
    expect(shown).toMatchObject({ rebuilt: [], sent: 0, bill: { calls: 2, credits: 320 } });
    expect(shown.notes.join()).toContain(words);
    expect(shown.notes.join()).toContain('Carried rows of damaged parts are requested again too');
    expect(await repairCounted({ flags })).toMatchObject({ parts: [1], sent: 2, notes: shown.notes });
    await expectWhole(out);
    const { counts, base: account, calls } = await manifestIn(out);
    expect(calls).toBe(manifest.calls + 2);
    const { exported, carried: all } = manifest.counts;
    expect(counts).toEqual({ ...manifest.counts, exported: exported + carried, carried: all - carried });
    expect(account).toEqual({ ...manifest.base, withoutBase: [1] });
    expect(await rowsIn(out, 'assets', 0)).toEqual(before);
    const rows = await rowsIn(out, 'assets', 1);
    expect(rows.map(({ fetched_at: time }) => time)).toEqual(rows.map(() => secondMs * 1000));
    // Whether they differ from the base is not known.
    const changes = await rowsIn(out, 'changes', 1);
    expect(changes.map(({ op, id, changed, before: old }) => [op, id, changed, old])).toEqual(
      rows.map(({ id }) => ['update', id, null, null]),
    );
  });

  it('without the base lists what the service does not know, and keeps the assets that are not listed any more', async () => {
    const [gone = ''] = allIds.slice(125);
    const { base, out, where } = await twoNights(
      {},
      newer.filter((record) => !record.includes(gone)),
    );
    rmSync(base, { recursive: true });
    loseTables(out, 3, ['assets']);
    rmSync(join(out, 'csv/changes/part-00003.csv'));
    expect(await repairCounted({ flags: where })).toMatchObject({ parts: [3], sent: 1 });
    await expectWhole(out);
    const deletes = (await rowsIn(out, 'changes', 3)).filter(({ op }) => op === 'delete');
    expect(deletes.map(({ id, reason }) => [id, reason])).toEqual([
      [gone, 'missing'],
      [allIds[0], 'unlisted'],
    ]);
    expect((await rowsIn(out, 'unexported', 3)).map(({ id, outcome }) => [id, outcome])).toEqual([[gone, 'missing']]);
  });

  it('leaves the last part where only the base knows which assets are not listed any more', async () => {
    const { base, out, where } = await twoNights();
    rmSync(base, { recursive: true });
    loseTables(out, 3);
    expect(await repairCounted({ flags: where })).toMatchObject({ parts: [], sent: 0 });
    loseTables(out, 2);
    const outcome = await repairCounted({ flags: where });
    expect(outcome).toMatchObject({ parts: [2], sent: 2 });
    expect(outcome.notes.join()).toContain('Part 3 cannot be requested again');
    expect(outcome.after.damage.map(({ path }) => path)).toEqual(
      ['csv', 'parquet'].flatMap((format) =>
        ['assets', 'creators', 'changes'].map((table) => `${format}/${table}/part-00003.${format}`),
      ),
    );
  });

  it('requests every id again of a part that was repaired without the base, though the base is there again', async () => {
    const { top, base, out, where, manifest } = await twoNights();
    renameSync(base, join(top, 'hidden'));
    loseTables(out, 1);
    await repairCounted({ flags: where });
    renameSync(join(top, 'hidden'), base);
    const repaired = tablesIn(out);
    loseTables(out, 1, ['assets', 'creators']);
    loseTables(out, 2);
    const outcome = await repairCounted({ flags: where });
    const ids = 40 + 40 - (await carriedRows(out, 2));
    expect(outcome).toMatchObject({ parts: [1, 2], sent: Math.ceil(ids / 20), notes: [] });
    await expectWhole(out);
    const without = ({ ...files }: Readonly<Record<string, string>>) =>
      Object.entries(files).filter(([path]) => !/changes\/part-00001/.test(path));
    expect(without(tablesIn(out))).toEqual(without(repaired));
    expect((await manifestIn(out)).base).toEqual({ ...manifest.base, withoutBase: [1] });
    // What differs is known again.
    expect((await rowsIn(out, 'changes', 1)).every(({ changed, op }) => op === 'insert' || changed !== null)).toBe(
      true,
    );
  });

  it('does not guess what the export requested where the job has another price of a call', async () => {
    const { out, where } = await twoNights();
    loseTables(out, 1);
    const { notes, bill } = await repairCounted({ flags: { ...where, 'credits-per-call': '80' }, pays: false });
    expect(notes.join()).toContain('cannot be chosen again');
    expect(bill).toEqual({ calls: 2, credits: 160 });
  });

  it('does not take a base whose files are damaged for a whole one', async () => {
    const { base, out, where } = await twoNights();
    loseTables(out, 1);
    cutFile(base, 'parquet/assets/part-00001.parquet');
    await expect(repairCounted({ flags: where })).rejects.toMatchObject({ exit: 'damaged' });
  });

  it('stops at the budget, and resumes without paying again, with the base and without', async () => {
    for (const withBase of [true, false]) {
      const { base, out, where, whole, manifest } = await twoNights();
      if (!withBase) rmSync(base, { recursive: true });
      for (const part of [0, 1, 2]) loseTables(out, part);
      const { bill } = await repairCounted({ flags: where, pays: false });
      expect(bill?.calls).toBe(withBase ? 5 : 6);
      const stopped = await repairCounted({ flags: { ...where, 'credits-per-run': '480' } });
      expect(stopped).toMatchObject({ error: { exit: 'spent' }, parts: [], sent: 3, calls: 3, credits: 480 });
      // What is damaged now waits until the stopped repair is done.
      loseTables(out, 3);
      const rest = await repairCounted({ flags: where, pays: false });
      expect(rest.bill?.calls).toBe((bill?.calls ?? 0) - 3);
      const resumed = await repairCounted({ flags: where });
      expect(resumed).toMatchObject({ parts: [0, 1, 2], sent: rest.bill?.calls });
      expect(resumed.error).toBeUndefined();
      expect((await manifestIn(out)).calls).toBe(manifest.calls + (bill?.calls ?? 0));
      if (!withBase) continue;
      expect(await repairCounted({ flags: where })).toMatchObject({ parts: [3], sent: 1 });
      await expectWhole(out);
      expect(tablesIn(out)).toEqual(whole);
      expect((await manifestIn(out)).calls).toBe(manifest.calls + (bill?.calls ?? 0) + 1);
    }
  });

  it('that began with the base is not resumed without it, unless it is told to', async () => {
    const { base, out, where, manifest } = await twoNights();
    for (const part of [0, 1, 2]) loseTables(out, part);
    await repairCounted({ flags: { ...where, 'credits-per-run': '480' } });
    rmSync(base, { recursive: true });
    await expect(repairCounted({ flags: where })).rejects.toMatchObject({ exit: 'input' });
    expect(await repairCounted({ flags: { ...where, base: 'none' } })).toMatchObject({ parts: [0, 1, 2], sent: 6 });
    await expectWhole(out);
    // The first three are counted too.
    expect((await manifestIn(out)).calls).toBe(manifest.calls + 9);
  });

  it('that was stopped leaves nothing behind once the export is begun anew', async () => {
    const { base, out, where } = await twoNights();
    for (const part of [0, 1, 2]) loseTables(out, part);
    await repairCounted({ flags: { ...where, 'credits-per-run': '480' } });
    const again = { ids: where.ids, format: 'csv', 'max-age': '2d', base };
    const fresh = await night({ ...second, out, fresh: true, flags: again });
    expect(fresh).toMatchObject({ state: 'complete', sent: 7 });
    expect(readdirSync(out)).not.toContain('.run');
  });

  it('is a base for the next night as it was', async () => {
    const { top, base, out, where } = await twoNights();
    rmSync(base, { recursive: true });
    loseTables(out, 1);
    await repairCounted({ flags: where });
    const flags = { format: 'csv', base: out, 'max-age': '2d', 'missing-after': '9d' };
    const next = await night({ ...second, day: 3, out: join(top, 'next'), flags });
    const old = (await rowsIn(out, 'assets')).filter(({ fetched_at: time }) => time !== secondMs * 1000).length;
    // Those of the first night are stale; one call is filled.
    expect(next.account.base).toMatchObject({ asked: { new: 0, stale: Math.ceil(old / 20) * 20 } });
  });
});
