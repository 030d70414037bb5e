import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keptFolder } from '../../../support/temp-folder.ts';
import { scriptEngineNames, scriptEngines } from './script-engines.ts';
import { exportFew, piecesOf, scriptOf, scriptTables } from './script-nights.ts';

const engines = await scriptEngines();

let folder: Awaited<ReturnType<typeof keptFolder>>;
let few: string;

beforeAll(async () => {
  folder = await keptFolder();
  few = await exportFew(folder.path);
}, 120_000);

afterAll(() => folder.remove());

describe.each(scriptEngineNames)('the stages of a script for %s', (engineName) => {
  const engine = engines[engineName];
  const test = it.skipIf(engine.isMissing);
  const rows = async (table: string): Promise<number> => (await engine.rows(`SELECT * FROM ${table}`)).length;

  test('have no name that a table of a set has', async () => {
    await engine.renew();
    await engine.run(scriptTables.map((name) => `DROP TABLE IF EXISTS stage_${name};`));
    await engine.run(piecesOf(await scriptOf(few, engineName, 'stage_')));
    expect(await rows('stage_assets')).toBe(20);
    await engine.run(piecesOf(await scriptOf(few, engineName)));
    expect([await rows('assets'), await rows('stage_assets')]).toEqual([20, 20]);
  });
});

it.skipIf(engines.duckdb.isMissing)('are temporary where they can be: a table of their name stays', async () => {
  for (const engineName of ['duckdb', 'postgres'] as const) {
    const engine = engines[engineName];
    if (engine.isMissing) continue;
    await engine.renew();
    const script = piecesOf(await scriptOf(few, engineName));
    const [, name = ''] = /CREATE TEMPORARY TABLE "(\w+assets)"/.exec(script.join('\n')) ?? [];
    await engine.run([`CREATE TABLE "${name}" AS SELECT 1 AS own;`]);
    await engine.run(script);
    expect(await engine.rows(`SELECT own FROM "${name}"`), engineName).toHaveLength(1);
    expect(await engine.rows('SELECT * FROM assets'), engineName).toHaveLength(20);
    await engine.run([`DROP TABLE "${name}";`]);
  }
});

describe.skipIf(engines.clickhouse.isMissing)('a column of another type in ClickHouse', () => {
  const { clickhouse } = engines;

  /** The tables of the export, empty, and its script. */
  const begin = async (): Promise<string[]> => {
    const script = piecesOf(await scriptOf(few, 'clickhouse'));
    await clickhouse.renew();
    await clickhouse.run(script.filter((piece) => piece.includes('CREATE TABLE IF NOT EXISTS')));
    return script;
  };

  it.each([
    ['compression_seq', 'Nullable(Int32)'],
    ['compression_seq', 'Nullable(UInt64)'],
    ['compression_seq', 'Int64'],
    ['content_metadata_symbol', 'String'],
    ['content_metadata_name', 'Nullable(DateTime64(3))'],
    ['royalty_percent', 'Nullable(Float32)'],
    ['royalty_percent', 'Nullable(Decimal(10, 2))'],
    ['token_info_supply', 'Nullable(Int64)'],
  ])('that would change values is refused, and no row is changed: %s %s', async (column, type) => {
    const script = await begin();
    await clickhouse.run([
      `ALTER TABLE assets DROP COLUMN ${column};`,
      `ALTER TABLE assets ADD COLUMN ${column} ${type};`,
    ]);
    await expect(clickhouse.run(script)).rejects.toThrow(`the column assets.${column} is ${type}, which`);
    await clickhouse.force(script);
    expect(await clickhouse.rows('SELECT * FROM assets')).toEqual([]);
    expect(await clickhouse.rows('SELECT * FROM _asset_export_loads')).toEqual([]);
  });

  it('that holds every value is filled', async () => {
    const script = await begin();
    const wider = ['compression_seq Nullable(Int128)', 'interface LowCardinality(Nullable(String))'];
    wider.push('token_info_supply Nullable(Decimal(38, 0))', 'burnt Nullable(UInt8)');
    await clickhouse.run([
      ...wider.map((column) => `ALTER TABLE assets MODIFY COLUMN ${column};`),
      'ALTER TABLE assets ADD COLUMN own Int8;',
    ]);
    await clickhouse.run(script);
    expect(await clickhouse.rows('SELECT * FROM assets')).toHaveLength(20);
  });
});
