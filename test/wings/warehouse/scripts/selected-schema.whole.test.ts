import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFinished } from '../../../../src/exports/finished-export.ts';
import type { EngineName } from '../../../../src/wings/warehouse/engines.ts';
import { exportScript } from '../../../../src/wings/warehouse/scripts/export-script.ts';
import { scriptExportOf } from '../../../../src/wings/warehouse/scripts/script-export.ts';
import { keptFolder } from '../../../support/temp-folder.ts';
import { scriptEngines } from './script-engines.ts';
import { exportNights, piecesOf, scriptOf } from './script-nights.ts';

const { clickhouse } = await scriptEngines();

let folder: Awaited<ReturnType<typeof keptFolder>>;
let nights: string[];

beforeAll(async () => {
  folder = await keptFolder();
  nights = await exportNights(folder.path);
}, 120_000);

afterAll(() => folder.remove());

const scriptIn = async (schema: string, engine: EngineName): Promise<string[]> => {
  const source = scriptExportOf(await openFinished(nights[1] ?? ''), engine, '');
  const options = { engine, folder: engine === 'snowflake' ? '@stage/night' : (nights[1] ?? ''), schema };
  return piecesOf(exportScript(source, options));
};

describe('where the schema of --schema is not the current one and a client ignores the error', () => {
  it('no statement of a script for Snowflake changes rows', async () => {
    const script = await scriptIn('Raw', 'snowflake');
    const changing = script.filter((piece) => /^(DELETE|INSERT|UPDATE)/.test(piece));
    expect(changing.length).toBeGreaterThan(4);
    for (const piece of changing.filter((each) => !each.includes('INTO asset_export_stage_')))
      expect(piece).toContain('_stage_assets_passed');
    const guard = script.find((piece) => piece.includes('CREATE TEMPORARY TABLE asset_export_stage_assets_passed'));
    expect(guard).toContain("CURRENT_SCHEMA() = 'RAW'");
  });

  it.skipIf(clickhouse.isMissing)('a script for ClickHouse changes no row', async () => {
    await clickhouse.renew();
    await clickhouse.run(piecesOf(await scriptOf(nights[0] ?? '', 'clickhouse')));
    const before = await clickhouse.rows('SELECT * FROM assets ORDER BY id');
    await clickhouse.force(await scriptIn('absent', 'clickhouse'));
    expect(await clickhouse.rows('SELECT * FROM assets ORDER BY id')).toEqual(before);
    expect(await clickhouse.rows('SELECT DISTINCT export FROM _asset_export_loads')).toEqual(['["date=2026-11-20"]']);
  });
});
