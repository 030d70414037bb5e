import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { assetsTable, creatorsTable, tables } from '../../../src/core/records/columns.ts';
import { tableFormats } from '../../../src/exports/table-source.ts';
import { ddlFor, dialectNames, loadStatementFor } from '../../../src/wings/warehouse/dialects.ts';
import { exportScript } from '../../../src/wings/warehouse/scripts/export-script.ts';
import type { Table } from '../../../src/core/records/table.ts';
import type { DialectName } from '../../../src/wings/warehouse/dialects.ts';
import { zetasqlOfTests } from './engines/zetasql-of-tests.ts';
import { isKnown, problemOf } from './sql-parser.ts';

const bigqueryProblem = await zetasqlOfTests("BigQuery's statements are not parsed by its own parser");

/** The statements of a script, without comments and psql's own commands. A block of PostgreSQL has statements of its own. */
function statementsOf(name: DialectName, script: string): string[] {
  return script
    .replaceAll(/^(?:--|\\copy|\\set).*$/gm, '')
    .split(name === 'postgres' ? /;\n(?:\n|$)/ : /;\n/)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '');
}

/** The script of an export with these tables, a file each. */
function exampleScript(dialect: DialectName, all: readonly Table[]): string {
  const format = dialect === 'postgres' ? 'csv' : 'parquet';
  const rows = 1000;
  const loaded = all.map((table) => {
    const path = `${format}/${table.name}/part-00000.${format}`;
    const file = { path, format, table: table.name, part: 0, rows, bytes: 0, sha256: '', first: 1, last: rows };
    return { name: table.name, table, files: [file], rows };
  });
  const plan = { format, csvDialect: 'rfc4180', seal: 'SEAL', prefix: '', tables: loaded } as const;
  const source = { name: 'EXPORT', plan, startedAtMs: Date.UTC(2026, 10, 20, 2) };
  return exportScript(source, { dialect, folder: '@stage/demo' });
}

describe.each(dialectNames)('for %s', (name) => {
  it('every statement is one that a parser of the dialect takes', () => {
    let parsed = 0;
    for (const table of tables) {
      const scripts = [
        ddlFor(name, table),
        ...tableFormats.map((format) => loadStatementFor(name, { table, format, folder: '@stage/demo' })),
      ];
      for (const statement of scripts.flatMap((script) => statementsOf(name, script))) {
        if (!isKnown(name, statement)) continue;
        expect(problemOf(name, statement), statement).toBeUndefined();
        parsed += 1;
      }
    }
    expect(parsed).toBeGreaterThanOrEqual((name === 'postgres' ? 1 : 2) * tables.length);
  });

  it('so are those of the script that loads an export', async () => {
    const small = exampleScript(name, [assetsTable, creatorsTable]);
    // The golden files of single tables show how tables are created.
    const applied = small.slice(small.indexOf('-- The rows of the export'));
    await expect(applied).toMatchFileSnapshot(`golden/replace-${name}.sql`);
    const statements = statementsOf(name, exampleScript(name, tables)).filter((each) => isKnown(name, each));
    for (const statement of statements) {
      expect(problemOf(name, statement), statement).toBeUndefined();
    }
    expect(statements.length).toBeGreaterThan(name === 'postgres' ? 20 : 30);
  });

  it('the parser refuses a broken statement', () => {
    for (const broken of ['CREATE TABLE a (b', 'CREATE TABLE a (b text NOT NULLL)']) {
      expect(problemOf(name, broken), broken).toBeDefined();
    }
  });
});

it('the samples of docs/warehouses.md over the table changes are taken: MERGE, and the model of dbt', () => {
  const page = readFileSync(new URL('../../../docs/warehouses.md', import.meta.url), 'utf8');
  const samples = [...page.matchAll(/```sql\n([^]*?)```/g)].map(([, text = '']) => text);
  expect(samples).toHaveLength(2);
  for (const sample of samples) {
    const plain = sample.replaceAll(/\{% .*? %\}\n/g, '').replaceAll(/\{\{ .*? \}\}/g, 'a');
    for (const name of ['bigquery', 'snowflake', 'redshift'] as const)
      expect(problemOf(name, plain), plain).toBeUndefined();
  }
});

describe.skipIf(bigqueryProblem === undefined)("BigQuery's own parser", () => {
  const problem = bigqueryProblem ?? (async () => 'npm run engines');

  it.each(tables.map((table) => [table.name, table] as const))('takes every statement of %s', async (_, table) => {
    expect(await problem(ddlFor('bigquery', table))).toBeUndefined();
    for (const format of tableFormats) {
      const load = loadStatementFor('bigquery', { table, format, folder: 'gs://bucket/demo' });
      expect(await problem(load), load).toBeUndefined();
    }
  });

  it('takes the script that loads an export', async () => {
    const script = exampleScript('bigquery', tables);
    expect(await problem(script), script).toBeUndefined();
  });

  it('refuses a broken statement', async () => {
    expect(await problem("LOAD DATA INTO a FROM FILE (format = 'CSV')")).toContain('Syntax error');
    expect(await problem('SELECT 1; CREATE TABLE a (b')).toContain('Syntax error');
  });
});
