import { describe, expect, it } from 'vitest';
import { openFinished } from '../../../src/exports/finished-export.ts';
import { rebuildLake } from '../../../src/wings/lake/index.ts';
import { LakeTable } from '../../../src/wings/lake/lake-table.ts';
import { snapshotOf } from '../../../src/wings/lake/table-metadata.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { clickhouseOfTests } from '../warehouse/engines/clickhouse-of-tests.ts';
import { cellsInIcebird, cellsOfParquet } from './support/all-cells.ts';
import { allTables, dayOf, folderOf, openRoot, runNight } from './support/lake-root.ts';
import { serveFolder } from './support/serve-folder.ts';

const clickhouse = clickhouseOfTests('Iceberg tables are read by icebird alone, not by ClickHouse');
const days = [0, 1, 2];

/** The third night has another name for a column, and one more. */
const changed = { rename: 'burnt=gone', 'exported-at': true };

const parquetOf = (root: string, table: string, day: number): string =>
  `file('${folderOf(root, day)}/parquet/${table}/part-*.parquet', Parquet)`;
const lakeOf = (root: string, table: string): string => `icebergLocal('${root}/lake/${table}/')`;

function count(query: string, settings = ''): number {
  return Number(clickhouse.rows(`SELECT count() FROM (${query})${settings}`)[0]?.[0]);
}

/** Columns of `changes` that no night renames. */
const lasting = 'id, op, reason, changed, before, changed_at';

/** How many rows of the table and of its files the other does not have, and how many rows both have. */
async function compareInClickhouse(root: string, table: string) {
  const { columns: newest } = (await openFinished(folderOf(root, 2))).table(table);
  const columns = table === 'changes' ? lasting : newest.map(({ name }) => `\`${name}\``).join();
  const from = table === 'changes' ? days : [2];
  const all = from.map((day) => `SELECT ${columns} FROM ${parquetOf(root, table, day)}`).join(' UNION ALL ');
  const files = `SELECT ${columns} FROM (${all})`;
  expect(count(files), table).toBeGreaterThan(10);
  const lake = `SELECT ${columns} FROM ${lakeOf(root, table)}`;
  return {
    missing: count(`${files} EXCEPT ${lake}`),
    added: count(`${lake} EXCEPT ${files}`),
    rows: count(lake) - count(files),
  };
}

/** Columns that no night renames. */
const travelled = [
  ['assets', 'id, content_metadata_name, fetched_at'],
  ['creators', 'asset_id, position, address, verified'],
  ['attributes', 'asset_id, position, trait_type, value'],
] as const;

async function compareTimeTravel(
  root: string,
  [table, columns]: readonly [string, string],
  day: number,
): Promise<unknown[]> {
  const newest = await new LakeTable(openRoot(root), table).newest();
  const snapshot = newest && snapshotOf(newest.metadata, dayOf(day));
  const from = (place: string): string => `SELECT ${columns} FROM ${place}`;
  const [files, lake] = [from(parquetOf(root, table, day)), from(lakeOf(root, table))];
  expect(count(files), table).toBeGreaterThan(10);
  return ['snapshot-id', 'timestamp-ms'].map((name) => {
    const setting = name === 'snapshot-id' ? 'iceberg_snapshot_id' : 'iceberg_timestamp_ms';
    const settings = ` SETTINGS ${setting} = ${String(snapshot?.[name])}`;
    const rows = count(lake, settings) - count(files);
    return {
      missing: count(`${files} EXCEPT ${lake}`, settings),
      added: count(`${lake} EXCEPT ${files}`, settings),
      rows,
    };
  });
}

/** The cells of a table, as its Parquet files have them. */
function writtenCells(root: string, table: string): Promise<string[]> {
  const nights = table === 'changes' ? days : [2];
  return cellsOfParquet(nights.map((day) => `${folderOf(root, day)}/parquet/${table}/part-*.parquet`));
}

/** ClickHouse in a process reads files below the working directory alone. */
async function within(folder: string, work: () => Promise<void>): Promise<void> {
  const before = process.cwd();
  process.chdir(folder);
  try {
    await work();
  } finally {
    process.chdir(before);
  }
}

const same = { missing: 0, added: 0, rows: 0 };

describe('three nights, the last one with a renamed and an added column', () => {
  it('are read as their Parquet files are, each as of its night', async () => {
    const root = await tempFolder();
    for (const day of days) await runNight(root, day, { flags: day === 2 ? changed : {} });
    if (!clickhouse.isMissing)
      await within(root, async () => {
        for (const table of allTables) expect(await compareInClickhouse(root, table), table).toEqual(same);
        for (const table of travelled)
          for (const day of days)
            expect(await compareTimeTravel(root, table, day), `${table[0]} ${day}`).toEqual([same, same]);
      });
    const server = await serveFolder(root);
    try {
      await rebuildLake(openRoot(root), { location: server.url, isDone: true });
      for (const table of allTables) {
        const written = await writtenCells(root, table);
        expect(written.length, table).toBeGreaterThan(10);
        expect(await cellsInIcebird(`${server.url}/lake/${table}`), table).toEqual(written);
      }
    } finally {
      server.close();
    }
  }, 120_000);
});
