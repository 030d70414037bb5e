import { describe, expect, it } from 'vitest';
import { assetsTable, tables } from '../../../src/core/records/columns.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import { isTextColumn, type Table } from '../../../src/core/records/table.ts';
import type { Engine } from '../../../src/wings/warehouse/engine.ts';
import { tableFormats } from '../../../src/exports/duckdb-files.ts';
import {
  commentsFor,
  ddlFor,
  engineNames,
  engines,
  loadStatementFor,
  requireShortTexts,
} from '../../../src/wings/warehouse/engines.ts';

const folders: Record<(typeof engineNames)[number], string> = {
  duckdb: 'out/demo',
  postgres: 'out/demo',
  bigquery: 'gs://bucket/demo',
  snowflake: '@stage/demo',
  clickhouse: 'out/demo',
  redshift: 's3://bucket/demo/',
};

describe('of an export that says how long its texts are', () => {
  const tableOf = (maxBytes: number): Table => ({
    ...assetsTable,
    columns: assetsTable.columns.map((column) => (isTextColumn(column) ? { ...column, maxBytes } : column)),
  });

  /** Exit, message and ways out; empty where nothing is refused. */
  const refusalOf = (name: (typeof engineNames)[number], maxBytes: number): string => {
    try {
      requireShortTexts(name, [tableOf(maxBytes)]);
    } catch (error) {
      if (error instanceof ExportError) return `${error.exit}: ${error.message} ${error.todo ?? ''}`;
      throw error;
    }
    return '';
  };

  it.each([
    [0, 64],
    [32, 64],
    [44, 128],
    [20_000, 65_535],
    [65_535, 65_535],
  ])('texts of up to %i bytes are VARCHAR(%i) in Redshift', (maxBytes, width) => {
    const ddl = ddlFor('redshift', tableOf(maxBytes));
    expect(new Set(ddl.match(/VARCHAR\(\d+\)/g))).toEqual(new Set([`VARCHAR(${width})`]));
    expect(ddl).toMatch(/"id" +VARCHAR\(\d+\) NOT NULL/);
    expect(refusalOf('redshift', maxBytes)).toBe('');
  });

  it('a longer text is refused by each warehouse with a limit: exit 3, the columns, and two ways out', () => {
    for (const name of engineNames) {
      const { longestText }: Engine = engines[name];
      if (longestText === undefined) continue;
      expect(refusalOf(name, longestText + 1)).toMatch(
        /^notTolerated: .* assets\.id \([\d,]+ bytes\), .*assets\.extra .*--exclude.*another warehouse/,
      );
    }
  });
});

describe.each(engineNames)('the statements for %s', (name) => {
  it('are those of the golden file, for each format of the table with every type of column', async () => {
    const statements = [
      ddlFor(name, assetsTable),
      ...tableFormats.map((format) => loadStatementFor(name, { table: assetsTable, format, folder: folders[name] })),
    ];
    await expect(statements.join('\n')).toMatchFileSnapshot(`golden/${name}.sql`);
  });

  it('name each column once, with a type of its own and NOT NULL where it is never null', () => {
    const { types } = engines[name];
    for (const table of tables) {
      const lines = ddlFor(name, table)
        .split('\n')
        .slice(1, table.columns.length + 1);
      for (const [at, column] of table.columns.entries()) {
        const line = lines[at] ?? '';
        expect(line.trim().replace(/^["`]|["`]$/g, '')).toMatch(new RegExp(`^${column.name}["\`]? `));
        expect(line).toContain(types[column.type]);
        const described = line + commentsFor(name, { ...table, columns: [column] });
        expect(described.replaceAll(/\\'|''/g, "'")).toContain(column.about);
        const mayBeNull = name === 'clickhouse' ? line.includes('Nullable(') : !line.includes('NOT NULL');
        expect(mayBeNull).toBe(column.nullable);
      }
    }
  });

  it('survive quotes and backslashes in the folder', () => {
    for (const table of tables) {
      for (const format of tableFormats) {
        const folder = `o'u\\t/d"e$mo`;
        const text = loadStatementFor(name, { table, format, folder });
        const escaped = [`o''u\\t/d"e$mo`, `o\\'u\\\\t/d"e$mo`, `o''u\\\\t/d\\"e\\$mo`];
        expect(escaped.some((form) => text.includes(form))).toBe(true);
      }
    }
  });
});
