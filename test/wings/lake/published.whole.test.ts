import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkLake } from '../../../src/wings/lake/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { auditTable } from './support/lake-audit.ts';
import { allTables, dayOf, openRoot, runNight } from './support/lake-root.ts';

describe('a run of a job with output.lake', () => {
  it('publishes its night in every table, and says what a catalogue needs', async () => {
    const root = await tempFolder();
    const outcomes = [await runNight(root, 0), await runNight(root, 1), await runNight(root, 2)];
    expect(outcomes.map(({ state }) => state)).toEqual(['complete', 'complete', 'complete']);
    const lake = openRoot(root);
    const checked = await checkLake(lake);
    expect(checked.problems).toEqual([]);
    expect(checked.unpublished).toEqual([]);
    expect(checked.tables.map(({ name }) => name).sort()).toEqual([...allTables].sort());
    for (const table of checked.tables) {
      expect(table).toMatchObject({ version: 3, nights: [dayOf(0), dayOf(1), dayOf(2)] });
      expect(await auditTable(lake.store, table.name)).toEqual([]);
    }
    const { assets } = outcomes[2]?.lake ?? {};
    expect(assets?.metadata).toBe(join(root, 'lake/assets/metadata/v3.metadata.json'));
    const metadata = JSON.parse(await readFile(assets?.metadata ?? '', 'utf8')) as Record<string, unknown>;
    expect(metadata['current-snapshot-id']).toBe(assets?.snapshot);
  });
});
