import { describe, expect, it } from 'vitest';
import { assetsTable, tables } from '../../../src/core/records/columns.ts';
import { tableFormats } from '../../../src/exports/table-source.ts';
import {
  commentsFor,
  ddlFor,
  dialectNames,
  dialects,
  loadStatementFor,
} from '../../../src/wings/warehouse/dialects.ts';

const folders: Record<(typeof dialectNames)[number], string> = {
  duckdb: 'out/demo',
  postgres: 'out/demo',
  bigquery: 'gs://bucket/demo',
  snowflake: '@stage/demo',
  clickhouse: 'out/demo',
  redshift: 's3://bucket/demo/',
};

describe.each(dialectNames)('the statements for %s', (name) => {
  it('are those of the golden file, for each format of the table with every type of column', async () => {
    const statements = [
      ddlFor(name, assetsTable),
      ...tableFormats.map((format) => loadStatementFor(name, { table: assetsTable, format, folder: folders[name] })),
    ];
    await expect(statements.join('\n')).toMatchFileSnapshot(`golden/${name}.sql`);
  });

  it('name each column once, with a type of its own and NOT NULL where it is never null', () => {
    const { types } = dialects[name];
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
