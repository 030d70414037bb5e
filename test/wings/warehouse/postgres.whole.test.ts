import { describe, expect, it } from 'vitest';
import { tables } from '../../../src/core/records/columns.ts';
import { numberOf, numberText, isJsonObject, type Json, parseJson, stringifyJson } from '../../../src/lib/json/json.ts';
import type { Cell, ColumnType } from '../../../src/core/records/table.ts';
import { ddlFor, loadStatementFor } from '../../../src/wings/warehouse/engines.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from './postgres-of-tests.ts';
import { rowsOf, writeParts } from './written-tables.ts';

const { isMissing, psql } = await postgresOfTests('PostgreSQL statements are not run', 'psql');

function valueOf(cell: Cell, type: ColumnType): Json {
  if (typeof cell === 'bigint') return numberOf(String(cell));
  if (typeof cell === 'number') return numberOf(numberText(cell));
  return type === 'json' && cell !== null ? parseJson(String(cell)) : cell;
}

describe.each(['csv', 'jsonl'] as const)('the PostgreSQL statements for %s', (format) => {
  const cases = tables.map((table) => [table.name, table] as const);
  it.skipIf(isMissing).each(cases)('load %s as it was written', async (name, table) => {
    const folder = await tempFolder();
    await writeParts(folder, table, format);
    const loaded = await psql(
      `DROP TABLE IF EXISTS "${name}";
       ${ddlFor('postgres', table)}
       ${loadStatementFor('postgres', { table, format, folder })}
       SELECT row_to_json(loaded) FROM "${name}" AS loaded;`,
    );
    const lines = loaded.split('\n').filter((line) => line !== '');
    const columns = table.columns;
    const shown = lines.map((line) => {
      const row = parseJson(line);
      return isJsonObject(row) ? columns.map((column) => stringifyJson(row[column.name] ?? null)).join() : line;
    });
    const written = rowsOf(table).map((row) =>
      columns.map((column, at) => stringifyJson(valueOf(row[at] ?? null, column.type))).join(),
    );
    // A table has no order of its own.
    expect(shown.sort()).toEqual(written.sort());
  });
});
