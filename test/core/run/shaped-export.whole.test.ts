import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyExport } from '../../../src/exports/verify-export.ts';
import { startService } from '../../../src/practice-service.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { readManifest } from '../../../src/places/export/manifest.ts';
import { exportBytes, runExport } from '../../support/run-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const ids = Array.from({ length: 90 }, (_, n) => generatedId(9, n));

/** Runs exports of the same ids against the same records. */
async function withRecords(
  work: (
    run: (flags: Readonly<Record<string, unknown>>, nowMs?: number) => ReturnType<typeof runExport>,
  ) => Promise<void>,
): Promise<void> {
  const folder = await tempFolder();
  const [assets, list] = [join(folder, 'assets.jsonl'), join(folder, 'ids.txt')];
  const [first = '', ...others] = ids;
  const odd = `{"id":"${first}","content":{"$schema":"\\ud800","files":[{"uri":"\\udc00"}]}}\n`;
  await writeFile(assets, odd + others.map((id) => `${generatedRecord(id)}\n`).join(''));
  await writeFile(list, ids.join('\n'));
  const service = await startService({ assets: [assets], host: '127.0.0.1', port: 0, clock: systemClock });
  try {
    await work((flags, nowMs) => {
      const clock = nowMs === undefined ? systemClock : { ...systemClock, now: () => nowMs };
      const base = { ids: list, url: service.url, 'rows-per-part': '30', 'ids-per-call': '30', concurrency: '1' };
      return runExport({ flags: { ...base, ...flags }, context: { clock } });
    });
  } finally {
    await service.close();
  }
}

describe('an export whose job shapes its tables', () => {
  it('has the columns that were asked for, in that order and under their new names; child tables stay whole', async () => {
    const out = await tempFolder();
    await withRecords(async (run) => {
      const flags = { columns: 'burnt,id,mutable', exclude: 'mutable', rename: 'id=asset', tables: 'assets,creators' };
      const { state } = await run({ out, format: 'csv,jsonl,parquet', ...flags });
      expect(state).toBe('complete');
    });
    const header = (table: string): string =>
      readFileSync(join(out, 'csv', table, 'part-00000.csv'), 'utf8').split('\n')[0] ?? '';
    expect(header('assets')).toBe('burnt,asset');
    expect(header('creators')).toBe('asset_id,position,address,share,verified,extra');
    const manifest = await readManifest(localDisk, out);
    expect(manifest?.tables['assets']?.columns).toEqual([
      { name: 'burnt', type: 'boolean', nullable: true },
      { name: 'asset', type: 'string', nullable: false, from: 'id', maxBytes: 44 },
    ]);
    expect((await verifyExport(localDisk, out)).damage).toEqual([]);
  });

  it('disarms formulas in the list of what was not exported, too, and reads the same ids from it again', async () => {
    const folder = await tempFolder();
    const list = join(folder, 'odd.txt');
    await writeFile(list, `${'1'.repeat(32)}\n=1+1\n@x\n`);
    const lines = async (flags: Readonly<Record<string, unknown>>): Promise<string[]> => {
      const out = await tempFolder();
      await withRecords(async (run) => {
        await run({ out, ids: list, format: 'csv', ...flags });
      });
      expect((await verifyExport(localDisk, out)).damage).toEqual([]);
      const [part = ''] = readdirSync(join(out, 'unexported'));
      return [join(out, 'unexported', part), readFileSync(join(out, 'unexported', part), 'utf8')];
    };
    const idsIn = (text = '') => text.split('\n').flatMap((line) => line.match(/^[^,]+(?=,invalid)/) ?? []);
    expect(idsIn((await lines({}))[1])).toEqual(['=1+1', '@x']);
    const [path, escaped] = await lines({ 'csv-formulas': 'escape' });
    expect(idsIn(escaped)).toEqual(["'=1+1", "'@x"]);
    expect(idsIn((await lines({ ids: path, outcome: 'missing,invalid' }))[1])).toEqual(['=1+1', '@x']);
  });

  it('counts half a character once, in however many formats it was replaced', async () => {
    const out = await tempFolder();
    await withRecords(async (run) => {
      await run({ out, format: 'csv,jsonl,parquet', tables: 'assets,files' });
    });
    expect((await readManifest(localDisk, out))?.notes.replacedSurrogates).toBe(2);
  });

  it('keeps the time at which it began, over interruptions and in every table', async () => {
    const whole = await tempFolder();
    const cut = await tempFolder();
    const began = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
    await withRecords(async (run) => {
      const flags = { format: 'csv', 'exported-at': true, tables: 'assets,creators' };
      await run({ out: whole, ...flags }, began);
      const first = await run({ out: cut, ...flags, 'credits-per-run': '160' }, began);
      expect(first.state).toBe('unfinished');
      const second = await run({ out: cut, ...flags }, began + 86_400_000);
      expect(second.state).toBe('complete');
    });
    const written = (folder: string): [string, string][] =>
      Object.entries(exportBytes(folder)).filter(([path]) => path.startsWith('csv/'));
    expect(written(cut)).toEqual(written(whole));
    const lines = readFileSync(join(cut, 'csv/creators/part-00002.csv'), 'utf8').trimEnd().split('\n');
    expect(lines[0]?.endsWith(',exported_at')).toBe(true);
    for (const line of lines.slice(1)) expect(line.endsWith(',2026-01-02T03:04:05.678000Z')).toBe(true);
  });

  it('says in a first export of several when each row was requested, and has changed nothing', async () => {
    const out = await tempFolder();
    const began = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
    await withRecords(async (run) => {
      await run({ out, format: 'csv', base: 'none', columns: 'burnt,id', tables: 'assets,changes,creators' }, began);
    });
    const text = (path: string): string[] => readFileSync(join(out, path), 'utf8').trimEnd().split('\n');
    const [header, ...rows] = text('csv/assets/part-00000.csv');
    expect(header).toBe('burnt,id,fetched_at');
    for (const row of rows) expect(row.endsWith(',2026-01-02T03:04:05.678000Z')).toBe(true);
    expect(text('csv/changes/part-00000.csv')).toEqual(['op,reason,changed_at,id,changed,before,burnt,fetched_at']);
    expect(text('csv/creators/part-00000.csv')[0]).not.toContain('fetched_at');
    const manifest = await readManifest(localDisk, out);
    expect(manifest).toMatchObject({ startedAtMs: began, counts: { carried: 0 }, tables: { changes: { rows: 0 } } });
  });

  it.each([
    ['output.columns', { columns: 'id' }],
    ['output.exclude', { exclude: 'burnt' }],
    ['output.rename', { rename: 'id=asset' }],
    ['output.exportedAt', { 'exported-at': true }],
    ['csv.dialect', { 'csv-dialect': 'redshift' }],
  ])('is not gone on with when the job changes: %s', async (name, flags) => {
    const out = await tempFolder();
    await mkdir(out, { recursive: true });
    await withRecords(async (run) => {
      await run({ out, format: 'csv' });
      await expect(run({ out, format: 'csv', ...flags })).rejects.toThrow(`${name} was`);
      // What is done about drift decides no byte.
      expect((await run({ out, format: 'csv', 'on-drift': 'fail' })).state).toBe('already');
    });
  });
});
