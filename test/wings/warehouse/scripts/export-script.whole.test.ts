import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diskFileStore } from '../../../../src/places/files/file-store.ts';
import { diffExports } from '../../../../src/wings/warehouse/diff/diff-exports.ts';
import { openFinished } from '../../../../src/exports/finished-export.ts';
import { sha256 } from '../../../../src/lib/hash/sha256.ts';
import { styles } from '../../../../src/wings/warehouse/scripts/script-style.ts';
import { type ScriptMode, scriptModes } from '../../../../src/wings/warehouse/scripts/export-script.ts';
import { runsAll } from '../../../support/lane.ts';
import { keptFolder, tempFolder } from '../../../support/temp-folder.ts';
import { engineNames, scriptEngines } from './script-engines.ts';
import { exportFew, exportNights, piecesOf, scriptOf, scriptTables } from './script-nights.ts';

const engines = await scriptEngines();

let folder: Awaited<ReturnType<typeof keptFolder>>;
let nights: string[];
let few: string;

beforeAll(async () => {
  folder = await keptFolder();
  nights = await exportNights(folder.path);
  few = await exportFew(folder.path);
}, 120_000);

afterAll(() => folder.remove());

describe.each(engineNames)('a script for %s', (dialect) => {
  const engine = engines[dialect];
  const test = it.skipIf(engine.isMissing);
  const pieces = async (night: number, mode: ScriptMode): Promise<string[]> =>
    piecesOf(await scriptOf(nights[night] ?? '', dialect, mode));
  /** The first load before others of a mode. */
  const begin = async (mode: ScriptMode): Promise<void> => {
    await engine.renew();
    await engine.run(await pieces(0, mode === 'scd2' ? 'scd2' : 'replace'));
  };

  /** The number and a hash of the rows of each table, except the time of the request, which is no change. */
  const dump = async (where = ''): Promise<string[]> => {
    const finished = await openFinished(nights[0] ?? '');
    const all: string[] = [];
    for (const table of scriptTables) {
      const names = (finished.tables.get(table)?.columns ?? []).map(({ name }) => name);
      const kept = names.filter((name) => name !== 'fetched_at' && name !== 'extra').map(styles[dialect].quote);
      const rows = await engine.rows(`SELECT ${kept.join(', ')} FROM ${table} ${where}`);
      all.push(`${table}: ${rows.length} rows, ${sha256(rows.sort().join('\n'))}`);
    }
    return all;
  };
  const open = async (mode: ScriptMode): Promise<string[]> => dump(mode === 'scd2' ? 'WHERE valid_to IS NULL' : '');

  const states: string[][] = [];
  /** What the tables hold after a night is loaded into none. */
  const stateOf = async (night: number): Promise<string[]> => {
    const known = states[night];
    if (known !== undefined) return known;
    await engine.renew();
    await engine.run(await pieces(night, 'replace'));
    return (states[night] = await dump());
  };

  test('replaces the tables, and again', async () => {
    const [first, second] = [await stateOf(0), await stateOf(1)];
    const { manifest } = await openFinished(nights[0] ?? '');
    const sizes = first.map((line) => line.replace(/,.*/, ''));
    expect(sizes).toEqual(scriptTables.map((table) => `${table}: ${manifest.tables[table]?.rows ?? -1} rows`));
    await begin('replace');
    await engine.run(await pieces(1, 'replace'));
    await engine.run(await pieces(1, 'replace'));
    expect(await dump()).toEqual(second);
    // An older export is refused, and nothing is changed by a client that ignores errors.
    await expect(engine.run(await pieces(0, 'replace'))).rejects.toThrow('newer export');
    await engine.force(await pieces(0, 'replace'));
    expect(await dump()).toEqual(second);
  });

  test('applies changes once, whatever the order and number of runs', async () => {
    const [second, third] = [await stateOf(1), await stateOf(2)];
    await begin('merge');
    const before = await dump();
    await expect(engine.run(await pieces(2, 'merge'))).rejects.toThrow('does not hold date=2026-11-21');
    await engine.force(await pieces(2, 'merge'));
    expect(await dump()).toEqual(before);
    for (const [night, state] of [[1, second] as const, [2, third] as const]) {
      await engine.run(await pieces(night, 'merge'));
      await engine.run(await pieces(night, 'merge'));
      expect(await dump()).toEqual(state);
    }
    await engine.force(await pieces(1, 'merge'));
    expect(await dump()).toEqual(third);
  });

  test('keeps every version', async () => {
    const expected = [await stateOf(0), await stateOf(1), await stateOf(2)];
    await engine.renew();
    for (const night of [0, 1, 2]) {
      await engine.run(await pieces(night, 'scd2'));
      const once = await dump();
      await engine.run(await pieces(night, 'scd2'));
      expect(await dump()).toEqual(once);
      expect(await open('scd2')).toEqual(expected[night]);
    }
    const starts = await engine.rows('SELECT DISTINCT valid_from FROM assets');
    expect(starts).toHaveLength(3);
    const refused = [
      [0, 'scd2'],
      [1, 'scd2'],
      [2, 'replace'],
      [2, 'merge'],
    ] as const;
    for (const [night, mode] of refused) await expect(engine.run(await pieces(night, mode))).rejects.toThrow();
    for (const [night, mode] of refused) await engine.force(await pieces(night, mode));
    expect(await open('scd2')).toEqual(expected[2]);
  });

  // A diff has Parquet files alone, which psql cannot read.
  it.skipIf(engine.isMissing || dialect === 'postgres').each(['merge', 'scd2'] as const)(
    'records the night that a diff leads to, and refuses to leave child tables without their rows: %s',
    async (mode) => {
      const expected = await stateOf(1);
      const out = join(await tempFolder(), 'changes');
      const sides = { from: nights[0] ?? '', to: nights[1] ?? '', out };
      await diffExports({ ...sides, files: diskFileStore, memoryBytes: 300e6, ignored: [], version: '0' });
      const script = piecesOf(await scriptOf(out, dialect, mode));
      await begin(mode);
      await engine.run(script);
      expect(await open(mode)).toEqual(expected);
      const { manifest } = await openFinished(nights[1] ?? '');
      for (const table of scriptTables) {
        const [record = ''] = await engine.rows(
          `SELECT export, "rows" FROM _asset_export_loads WHERE "table" = '${table}'`,
        );
        expect(record).toContain('date=2026-11-21');
        expect(record).toMatch(RegExp(`\\b${manifest.tables[table]?.rows ?? -1}\\b`));
      }
      await begin(mode);
      await engine.run(['DELETE FROM files WHERE position = 0;\n']);
      await expect(engine.run(script)).rejects.toThrow('the table files would not hold');
    },
  );

  test.each(scriptModes)('can be cut after any statement, and run again: %s', { timeout: 600_000 }, async (mode) => {
    const expected = await stateOf(1);
    const script = await pieces(1, mode);
    for (let cut = 1; cut < script.length; cut += runsAll ? 1 : 31) {
      await begin(mode);
      await engine.run(script.slice(0, cut));
      await engine.run(script);
      expect(await open(mode), script[cut - 1]).toEqual(expected);
    }
  });

  test.each(scriptModes)(
    'changes no row where a part is missing and errors are ignored: %s',
    { timeout: 600_000 },
    async (mode) => {
      const copy = join(await tempFolder(), 'night');
      await cp(nights[1] ?? '', copy, { recursive: true });
      const { manifest } = await openFinished(copy);
      const script = piecesOf(await scriptOf(copy, dialect, mode));
      const used = [...scriptTables, 'changes'].filter((name) => name !== (mode === 'replace' ? 'changes' : 'assets'));
      const format = dialect === 'postgres' ? 'csv' : 'parquet';
      const read = manifest.files.filter(
        (file) => file.rows > 0 && file.format === format && used.includes(file.table),
      );
      expect(read.length).toBeGreaterThan(5);
      for (const { path } of runsAll ? read : read.filter((_, n) => n % 9 === 0)) {
        await begin(mode);
        const before = await dump();
        await rm(join(copy, path));
        await engine.force(script);
        expect(await dump(), path).toEqual(before);
        await cp(join(nights[1] ?? '', path), join(copy, path));
      }
    },
  );

  test('empties no table where many assets are gone', async () => {
    await begin('replace');
    const before = await dump();
    await expect(engine.run(piecesOf(await scriptOf(few, dialect, 'replace')))).rejects.toThrow('would be deleted');
    expect(await dump()).toEqual(before);
  });
});
