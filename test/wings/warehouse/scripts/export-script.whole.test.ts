import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFinished } from '../../../../src/exports/finished-export.ts';
import { sha256 } from '../../../../src/lib/hash/sha256.ts';
import { styles } from '../../../../src/wings/warehouse/scripts/script-style.ts';
import { runsAll } from '../../../support/lane.ts';
import { keptFolder, tempFolder } from '../../../support/temp-folder.ts';
import { scriptEngineNames, scriptEngines } from './script-engines.ts';
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

describe.each(scriptEngineNames)('a script for %s', (name) => {
  const engine = engines[name];
  const test = it.skipIf(engine.isMissing);
  const pieces = async (night: number): Promise<string[]> => piecesOf(await scriptOf(nights[night] ?? '', name));
  /** The first load before others. */
  const begin = async (): Promise<void> => {
    await engine.renew();
    await engine.run(await pieces(0));
  };

  /** The number and a hash of the rows of each table, except the time of the request, which is no change. */
  const dump = async (): Promise<string[]> => {
    const finished = await openFinished(nights[0] ?? '');
    const all: string[] = [];
    for (const table of scriptTables) {
      const names = (finished.tables.get(table)?.columns ?? []).map(({ name }) => name);
      const kept = names.filter((name) => name !== 'fetched_at' && name !== 'extra').map(styles[name].quote);
      const rows = await engine.rows(`SELECT ${kept.join(', ')} FROM ${table}`);
      all.push(`${table}: ${rows.length} rows, ${sha256(rows.sort().join('\n'))}`);
    }
    return all;
  };

  const states: string[][] = [];
  /** What the tables hold after a night is loaded into none. */
  const stateOf = async (night: number): Promise<string[]> => {
    const known = states[night];
    if (known !== undefined) return known;
    await engine.renew();
    await engine.run(await pieces(night));
    return (states[night] = await dump());
  };

  test('replaces the tables, and again', async () => {
    const [first, second] = [await stateOf(0), await stateOf(1)];
    const { manifest } = await openFinished(nights[0] ?? '');
    const sizes = first.map((line) => line.replace(/,.*/, ''));
    expect(sizes).toEqual(scriptTables.map((table) => `${table}: ${manifest.tables[table]?.rows ?? -1} rows`));
    await begin();
    await engine.run(await pieces(1));
    await engine.run(await pieces(1));
    expect(await dump()).toEqual(second);
    // An older export is refused, and nothing is changed by a client that ignores errors.
    await expect(engine.run(await pieces(0))).rejects.toThrow('newer export');
    await engine.force(await pieces(0));
    expect(await dump()).toEqual(second);
  });

  test('can be cut after any statement, and run again', { timeout: 600_000 }, async () => {
    const expected = await stateOf(1);
    const script = await pieces(1);
    for (let cut = 1; cut < script.length; cut += runsAll ? 1 : 31) {
      await begin();
      await engine.run(script.slice(0, cut));
      await engine.run(script);
      expect(await dump(), script[cut - 1]).toEqual(expected);
    }
  });

  test('changes no row where a part is missing and errors are ignored', { timeout: 600_000 }, async () => {
    const copy = join(await tempFolder(), 'night');
    await cp(nights[1] ?? '', copy, { recursive: true });
    const { manifest } = await openFinished(copy);
    const script = piecesOf(await scriptOf(copy, name));
    const format = name === 'postgres' ? 'csv' : 'parquet';
    const read = manifest.files.filter(
      (file) => file.rows > 0 && file.format === format && scriptTables.includes(file.table),
    );
    expect(read.length).toBeGreaterThan(5);
    for (const { path } of runsAll ? read : read.filter((_, n) => n % 9 === 0)) {
      await begin();
      const before = await dump();
      await rm(join(copy, path));
      await engine.force(script);
      expect(await dump(), path).toEqual(before);
      await cp(join(nights[1] ?? '', path), join(copy, path));
    }
  });

  test('empties no table where many assets are gone', async () => {
    await begin();
    const before = await dump();
    await expect(engine.run(piecesOf(await scriptOf(few, name)))).rejects.toThrow('would be deleted');
    expect(await dump()).toEqual(before);
  });
});
