import { join } from 'node:path';
import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { tables } from '../../../src/core/records/columns.ts';
import type { Cell, ColumnType } from '../../../src/core/records/table.ts';
import { tableFormats } from '../../../src/exports/duckdb-files.ts';
import { ddlFor, loadStatementFor } from '../../../src/wings/warehouse/engines.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { rowsOf, writeParts } from './written-tables.ts';

/** A cell as DuckDB gives it back, its integers as text. */
function plain(value: DuckDBValue | Cell, type: ColumnType): unknown {
  if (value === null) return null;
  // DuckDB's JSON reader prints the numbers inside json columns of JSONL anew: compared as JavaScript reads them.
  if (type === 'json') return JSON.stringify(JSON.parse(String(value)));
  if (type === 'double') return Number(value);
  return type === 'boolean' ? value : String(value);
}

describe.each(tableFormats)('the DuckDB statements for %s', (format) => {
  it.each(tables.map((table) => [table.name, table] as const))('load %s as it was written', async (_, table) => {
    const folder = join(await tempFolder(), 'date=2026-01-31', 'a[b]*');
    await writeParts(folder, table, format);
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    const connection = await instance.connect();
    await connection.run(ddlFor('duckdb', table));
    await connection.run(loadStatementFor('duckdb', { table, format, folder }));
    const loaded = (await connection.runAndReadAll(`SELECT * FROM "${table.name}"`)).getRows();
    connection.closeSync();
    instance.closeSync();

    const rows = rowsOf(table);
    const shown = (all: readonly (readonly (DuckDBValue | Cell)[])[]): unknown[] =>
      all.map((row) => table.columns.map((column, at) => plain(row[at] ?? null, column.type)));
    expect(shown(loaded)).toEqual(shown(rows));
    if (format !== 'jsonl') {
      const json = table.columns.flatMap((column, at) => (column.type === 'json' ? [at] : []));
      expect(loaded.map((row) => json.map((at) => row[at]))).toEqual(rows.map((row) => json.map((at) => row[at])));
    }
  });
});
