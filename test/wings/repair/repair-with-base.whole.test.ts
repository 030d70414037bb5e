import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSource, rebuildExport, rebuiltJob } from '../../../src/wings/repair/rebuild/rebuild-export.ts';
import { verifyExport } from '../../../src/exports/verify-export.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { night } from '../../support/nights.ts';
import { fileBytes, runExport } from '../../support/run-export.ts';
import {
  allIds,
  cutFile,
  loseTables,
  manifestIn,
  newer,
  nightsOfFile,
  repairCounted,
  rowsIn,
  second,
} from './based-nights.ts';

const twoNights = nightsOfFile();

const secondMs = Date.UTC(2026, 10, 22, 2);
const carriedNote = expect.stringContaining('Carried rows of damaged parts are requested again too') as string;
const changesNote = expect.stringContaining('The table changes is removed from the export') as string;

async function expectWhole(out: string): Promise<void> {
  expect(await verifyExport(localDisk, out)).toMatchObject({ damage: [], strangers: [] });
  expect(existsSync(join(out, '.run'))).toBe(false);
}

/** How many rows of a part were carried: they are as old as the first night. */
async function carriedRows(out: string, part: number): Promise<number> {
  return (await rowsIn(out, 'assets', part)).filter(({ fetched_at: time }) => time !== secondMs * 1000).length;
}

const withoutChanges = (files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !path.includes('/changes/')));

describe('a repair of an export with a base', () => {
  // Promise, Nothing lost: A damaged part of a night is rebuilt from siblings, or requested after its bill; a damaged `changes` is removed
  it('requests every id of a damaged part, with the bill before, and drops the table changes', async () => {
    const [gone = ''] = allIds.slice(60);
    const { base, out, where, manifest } = await twoNights(
      {},
      newer.filter((record) => !record.includes(gone)),
    );
    rmSync(base, { recursive: true });
    const before = await rowsIn(out, 'assets', 0);
    const carried = await carriedRows(out, 1);
    expect(carried).toBeGreaterThan(3);
    loseTables(out, 1);
    const shown = await repairCounted({ flags: where, pays: false });
    const notes = [carriedNote, changesNote];
    expect(shown).toMatchObject({ rebuilt: [], parts: [], sent: 0, bill: { calls: 2, credits: 320 }, notes });
    expect(existsSync(join(out, '.run'))).toBe(false);
    expect(fileBytes(out)).toHaveProperty(['csv/changes/part-00000.csv']);
    expect(await repairCounted({ flags: where })).toMatchObject({ parts: [1], sent: 2, notes });
    await expectWhole(out);
    const { tables, counts, calls, ...after } = await manifestIn(out);
    expect(Object.keys(tables)).toEqual(['assets', 'creators']);
    expect([after.job, after.base, calls]).toEqual([manifest.job, manifest.base, manifest.calls + 2]);
    const { exported, carried: all } = manifest.counts;
    expect(counts).toEqual({
      ...manifest.counts,
      exported: exported + carried - 1,
      carried: all - carried,
      missing: 2,
    });
    expect(await rowsIn(out, 'assets', 0)).toEqual(before);
    const rows = await rowsIn(out, 'assets', 1);
    expect(rows.map(({ fetched_at: time }) => time)).toEqual(rows.map(() => secondMs * 1000));
    expect((await rowsIn(out, 'unexported', 1)).map(({ id, outcome }) => [id, outcome])).toEqual([[gone, 'missing']]);
    expect(existsSync(join(out, 'csv/changes/part-00000.csv'))).toBe(false);
  });

  it('makes a damaged file of its siblings, with the times of the carried rows', async () => {
    const { out, where, whole, manifest } = await twoNights();
    for (const part of [0, 1, 3])
      for (const table of ['assets', 'creators', 'changes']) rmSync(join(out, `csv/${table}/part-0000${part}.csv`));
    for (const format of ['csv', 'parquet']) rmSync(join(out, `${format}/creators`), { recursive: true });
    cutFile(out, 'unexported/part-00002.csv');
    const outcome = await repairCounted({ flags: { ...where, url: 'http://127.0.0.1:9' } });
    expect(outcome).toMatchObject({ parts: [], sent: 0, notes: [] });
    expect(outcome.bill).toBeUndefined();
    await expectWhole(out);
    expect(fileBytes(out)).toEqual(whole);
    expect(await manifestIn(out)).toEqual(manifest);
  });

  it('costs nothing where only the table changes is damaged, which goes', async () => {
    const { out, where, whole, manifest } = await twoNights();
    loseTables(out, 3, ['changes']);
    const outcome = await repairCounted({ flags: where, pays: false });
    expect(outcome).toMatchObject({ parts: [], sent: 0, rebuilt: [], notes: [changesNote] });
    expect(outcome.bill).toBeUndefined();
    await expectWhole(out);
    expect(fileBytes(out)).toEqual(withoutChanges(whole));
    const { tables, files, ...after } = await manifestIn(out);
    expect(Object.keys(tables)).toEqual(['assets', 'creators']);
    expect(files).toEqual(manifest.files.filter(({ table }) => table !== 'changes'));
    expect(after).toEqual({ ...manifest, tables: undefined, files: undefined });
    expect(await repairCounted({ flags: where })).toMatchObject({ after: { damage: [] }, notes: [] });
  });

  it('of one that was rebuilt keeps its source in the manifest', async () => {
    const { top, out, where } = await twoNights();
    const rebuilt = join(top, 'rebuilt');
    const source = await openSource(out, localDisk);
    const job = rebuiltJob(source, rebuilt, { formats: ['csv'] });
    await runExport({
      flags: { ...where, out: rebuilt },
      make: (_, context) => rebuildExport({ source, job, join: 1, fresh: false }, context),
    });
    const manifest = await manifestIn(rebuilt);
    expect(manifest.rebuilt).toBeDefined();
    rmSync(join(rebuilt, 'csv/assets/part-00001.csv'));
    expect(await repairCounted({ flags: { ...where, out: rebuilt } })).toMatchObject({ parts: [1], sent: 2 });
    await expectWhole(rebuilt);
    expect((await manifestIn(rebuilt)).rebuilt).toEqual(manifest.rebuilt);
  });

  it('stops at the budget, and resumes without paying again', async () => {
    const { out, where, manifest } = await twoNights();
    for (const part of [0, 1, 2]) loseTables(out, part);
    const { bill } = await repairCounted({ flags: where, pays: false });
    expect(bill?.calls).toBe(6);
    const stopped = await repairCounted({ flags: { ...where, 'credits-per-run': '480' } });
    expect(stopped).toMatchObject({ error: { exit: 'spent' }, sent: 3, calls: 3, credits: 480 });
    // What is damaged now waits until the stopped repair is done.
    loseTables(out, 3);
    const rest = await repairCounted({ flags: where, pays: false });
    expect(rest.bill?.calls).toBe(3);
    const resumed = await repairCounted({ flags: where });
    expect(resumed.error).toBeUndefined();
    expect(resumed.sent).toBe(3);
    expect(await repairCounted({ flags: where })).toMatchObject({ parts: [3], sent: 1 });
    await expectWhole(out);
    expect(await manifestIn(out)).toMatchObject({ calls: manifest.calls + 7, counts: { carried: 0 } });
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
