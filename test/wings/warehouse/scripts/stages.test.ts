import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keptFolder } from '../../../support/temp-folder.ts';
import { engineNames, scriptEngines } from './script-engines.ts';
import { exportFew, piecesOf, scriptOf, scriptTables } from './script-nights.ts';

const engines = await scriptEngines();

let folder: Awaited<ReturnType<typeof keptFolder>>;
let few: string;

beforeAll(async () => {
  folder = await keptFolder();
  few = await exportFew(folder.path);
}, 120_000);

afterAll(() => folder.remove());

describe.each(engineNames)('the stages of a script for %s', (dialect) => {
  const engine = engines[dialect];
  const test = it.skipIf(engine.isMissing);
  const rows = async (table: string): Promise<number> => (await engine.rows(`SELECT * FROM ${table}`)).length;

  test('have no name that a table of a set has', async () => {
    await engine.renew();
    await engine.run(scriptTables.map((name) => `DROP TABLE IF EXISTS stage_${name};`));
    await engine.run(piecesOf(await scriptOf(few, dialect, 'replace', 'stage_')));
    expect(await rows('stage_assets')).toBe(20);
    await engine.run(piecesOf(await scriptOf(few, dialect, 'replace')));
    expect([await rows('assets'), await rows('stage_assets')]).toEqual([20, 20]);
  });
});

it.skipIf(engines.duckdb.isMissing)('are temporary where they can be: a table of their name stays', async () => {
  for (const dialect of ['duckdb', 'postgres'] as const) {
    const engine = engines[dialect];
    if (engine.isMissing) continue;
    await engine.renew();
    const script = piecesOf(await scriptOf(few, dialect, 'replace'));
    const [, name = ''] = /CREATE TEMPORARY TABLE "(\w+assets)"/.exec(script.join('\n')) ?? [];
    await engine.run([`CREATE TABLE "${name}" AS SELECT 1 AS own;`]);
    await engine.run(script);
    expect(await engine.rows(`SELECT own FROM "${name}"`), dialect).toHaveLength(1);
    expect(await engine.rows('SELECT * FROM assets'), dialect).toHaveLength(20);
    await engine.run([`DROP TABLE "${name}";`]);
  }
});
