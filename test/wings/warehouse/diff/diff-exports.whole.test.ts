import { mkdir, readdir, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type DiffRequest, diffExports } from '../../../../src/wings/warehouse/diff/diff-exports.ts';
import { readRows } from '../../../../src/exports/finished-export.ts';
import { verifyExport } from '../../../../src/exports/verify-export.ts';
import { localDisk } from '../../../../src/places/files/disk.ts';
import { runHere } from '../../../support/run-here.ts';
import { keptFolder, tempFolder } from '../../../support/temp-folder.ts';
import { changesOf, comparedByHand, ignored, jsonLines } from './plain-comparison.ts';
import { assetIds, exportNight, firstNight, type NightOptions, secondNight } from './two-nights.ts';
import { sampled } from '../../../model/support/sample.ts';

async function diffOf(from: string, to: string, more: Partial<DiffRequest> = {}) {
  const out = join(await tempFolder(), 'diff');
  const request = { files: localDisk, from, to, out, memoryBytes: 300e6, ignored, version: '0', ...more };
  return { out, summary: await diffExports(request) };
}

/** The ids of the second night: 100 to 109 are listed no more, and the order is another. */
const idsOfSecond = [...assetIds.slice(110), ...assetIds.slice(0, 100)];

/** Nights that tests share, which must not change them. */
const shared = new Map<NightOptions, Promise<string>>();
const folder = await keptFolder();
afterAll(() => folder.remove());

function nightOf(options: NightOptions): Promise<string> {
  const known = shared.get(options) ?? exportNight({ ...options, out: join(folder.path, String(shared.size)) });
  shared.set(options, known);
  return known;
}

const first: NightOptions = { record: firstNight };
const second: NightOptions = { record: secondNight, ids: idsOfSecond };

describe('a diff', () => {
  const pairs = [
    ['parquet,jsonl', 'parquet,jsonl', {}],
    ['csv,jsonl', 'parquet,jsonl', {}],
    ['parquet,jsonl', 'csv,jsonl', { 'csv-dialect': 'redshift', compression: 'csv=gzip' }],
    ['parquet,jsonl', 'parquet,jsonl', { rename: 'burnt=gone,interface=kind', 'exported-at': true }],
  ] as const;
  it.each(sampled(pairs, 2))(
    // Promise, Nothing misread: `diff` finds what a plain comparison finds; a second one clears what an interrupted one left (sampled)
    'of %s and %s %j is a plain comparison of the JSONL, row by row',
    async (before, after, flags) => {
      const from = await exportNight({ record: firstNight, flags: { ...flags, format: before } });
      const to = await exportNight({ ...second, flags: { ...flags, format: after } });
      const { out, summary } = await diffOf(from, to);
      const expected = await comparedByHand(from, to);
      const counted = (op: string) => expected.filter((row) => row['op'] === op).length;
      expect(await changesOf(out)).toEqual(expected);
      expect([counted('insert'), counted('update'), counted('delete')].every((count) => count > 5)).toBe(true);
      expect(expected.filter((row) => row['reason'] === 'missing')).toHaveLength(1);
      expect(summary.counts).toMatchObject({
        inserted: counted('insert'),
        updated: counted('update'),
        deleted: counted('delete'),
      });
      const all = (await jsonLines(to, 'assets')).length;
      expect(summary.counts.unchanged).toBe(all - counted('insert') - counted('update'));
      const [name = ''] = Object.keys(summary.columns).filter((each) => each === 'ownership_owner');
      expect(summary.columns[name]).toBe(
        expected.filter((row) => (row['changed'] as string[] | null)?.includes('ownership_owner')).length,
      );
    },
  );

  it('has the child rows of changed assets, a manifest with both seals, and passes verify', async () => {
    const from = await nightOf(first);
    const to = await nightOf(second);
    const { out } = await diffOf(from, to);
    const changed = new Set(
      (await comparedByHand(from, to)).filter((row) => row['op'] !== 'delete').map((row) => row['id']),
    );
    const expected = (await jsonLines(to, 'creators')).filter((row) => changed.has(row['asset_id']));
    const found: unknown[] = [];
    for await (const row of readRows({ files: localDisk, folder: out, table: 'creators' }))
      found.push([row['asset_id'], row['position'], row['address']]);
    expect(found.sort()).toEqual(expected.map((row) => [row['asset_id'], row['position'], row['address']]).sort());
    expect(found.length).toBeGreaterThan(20);
    const { damage, strangers } = await verifyExport(localDisk, out);
    expect([damage, strangers]).toEqual([[], []]);
    expect((await readdir(out)).sort()).toEqual(['manifest.json', 'parquet']);
    const [file = ''] = await readdir(join(out, 'parquet/changes'));
    await truncate(join(out, 'parquet/changes', file), 100);
    expect((await verifyExport(localDisk, out)).damage).not.toEqual([]);
  });
  it('removes what an interrupted one left', async () => {
    const from = await nightOf(first);
    const out = join(await tempFolder(), 'diff');
    for (const left of ['.run/diff/diff.duckdb', '.run/unfinished/x', 'parquet/changes/part-00007.parquet']) {
      await mkdir(dirname(join(out, left)), { recursive: true });
      await writeFile(join(out, left), 'left');
    }
    await diffOf(from, from, { out });
    const { damage, strangers } = await verifyExport(localDisk, out);
    expect([damage, strangers]).toEqual([[], []]);
    expect((await readdir(out)).sort()).toEqual(['manifest.json', 'parquet']);
  });

  it('of an export with itself is empty', async () => {
    const from = await nightOf(first);
    const { out, summary } = await diffOf(from, from);
    expect(summary.counts).toEqual({ inserted: 0, updated: 0, deleted: 0, unchanged: 200 });
    expect((await verifyExport(localDisk, out)).damage).toEqual([]);
  });

  it('sees prices when nothing is ignored, and no owners when these are', async () => {
    const from = await nightOf(first);
    const to = await nightOf(second);
    expect((await diffOf(from, to)).summary.columns['extra']).toBeUndefined();
    expect((await diffOf(from, to, { ignored: [] })).summary.columns['extra']).toBeGreaterThan(10);
    expect(
      (await diffOf(from, to, { ignored: ['ownership_owner'] })).summary.columns['ownership_owner'],
    ).toBeUndefined();
  });

  it('compares only the columns that both have, and names the others', async () => {
    const from = await exportNight({ record: firstNight, flags: { exclude: 'burnt' } });
    const to = await exportNight({ ...second, flags: { exclude: 'ownership_owner' } });
    const { summary } = await diffOf(from, to);
    expect(summary.uncompared.toSorted()).toEqual(['burnt', 'ownership_owner']);
    expect(Object.keys(summary.columns)).not.toContain('burnt');
  });

  it('refuses a damaged side, one that it cannot read exactly, and a folder that is taken', async () => {
    const from = await exportNight(first);
    const lines = await exportNight({ record: firstNight, flags: { format: 'jsonl' } });
    await expect(diffOf(from, lines)).rejects.toThrow('Parquet or exact CSV');
    await expect(diffOf(from, from, { out: lines })).rejects.toThrow('already holds');
    const { out } = await diffOf(from, from);
    await expect(diffOf(from, out)).rejects.toThrow('is a diff');
    const taken = await tempFolder();
    await writeFile(join(taken, 'notes.txt'), 'mine');
    await expect(diffOf(from, from, { out: taken })).rejects.toMatchObject({ exit: 'usage' });
    await truncate(join(from, 'parquet/assets/part-00001.parquet'), 1000);
    await expect(diffOf(from, lines)).rejects.toMatchObject({ exit: 'damaged' });
  });

  it('is a command: a summary, JSON, and exit 3 when it is asked for', async () => {
    const from = await nightOf(first);
    const to = await nightOf(second);
    const plain = await runHere(['diff', from, to]);
    expect(plain.exit, plain.stderr).toBe(0);
    expect(plain.stdout).toMatch(/inserted +20\n {2}updated +\d+ {3}\w/);
    expect((await runHere(['diff', from, to, '--exit-code'])).exit).toBe(3);
    expect((await runHere(['diff', from, from, '--exit-code'])).exit).toBe(0);
    const json = await runHere([
      'diff',
      from,
      to,
      '--json',
      '--out',
      join(await tempFolder(), 'd'),
      '--memory',
      '400MB',
    ]);
    expect(JSON.parse(json.stdout)).toMatchObject({ counts: { inserted: 20 } });
    expect((await runHere(['diff', from, to, '--memory', 'much'])).exit).toBe(2);
  });
});
