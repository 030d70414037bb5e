import { describe, expect, it } from 'vitest';
import { assetsTable, creatorsTable, tables } from '../../../src/core/records/columns.ts';
import { changeModes, changeScript } from '../../../src/wings/warehouse/change-scripts.ts';
import { tableFormats } from '../../../src/exports/table-source.ts';
import { ddlFor, dialectNames, loadStatementFor } from '../../../src/wings/warehouse/dialects.ts';
import { zetasqlOfTests } from './engines/zetasql-of-tests.ts';
import { isKnown, problemOf } from './sql-parser.ts';

const bigqueryProblem = await zetasqlOfTests("BigQuery's statements are not parsed by its own parser");

/** The statements of a script, without comments and psql's own commands. */
function statementsOf(script: string): string[] {
  return script
    .replaceAll(/(?:--|\\copy).*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

describe.each(dialectNames)('for %s', (name) => {
  it('every statement is one that a parser of the dialect takes', () => {
    let parsed = 0;
    for (const table of tables) {
      const scripts = [
        ddlFor(name, table),
        ...tableFormats.map((format) => loadStatementFor(name, { table, format, folder: '@stage/demo' })),
      ];
      for (const statement of scripts.flatMap(statementsOf)) {
        if (!isKnown(name, statement)) continue;
        expect(problemOf(name, statement), statement).toBeUndefined();
        parsed += 1;
      }
    }
    expect(parsed).toBeGreaterThanOrEqual(2 * tables.length);
  });

  it.each(changeModes)('so are those that apply changes: %s', async (mode) => {
    const script = changeScript(tables, {
      dialect: name,
      mode,
      folder: '@stage/demo',
      format: name === 'postgres' ? 'csv' : 'parquet',
    });
    const small = changeScript([assetsTable, creatorsTable], {
      dialect: name,
      mode,
      folder: '@stage/demo',
      format: 'parquet',
    });
    // The golden files of single tables show how tables are created; the comments of columns hold semicolons too.
    const applied = small
      .slice(small.indexOf('-- each night'))
      .replaceAll(/^CREATE (OR REPLACE )?TABLE .*?;$\n\n?/gms, '');
    await expect(applied).toMatchFileSnapshot(`golden/${mode}-${name}.sql`);
    const statements = statementsOf(script).filter((statement) => isKnown(name, statement));
    for (const statement of statements) {
      expect(problemOf(name, statement), statement).toBeUndefined();
    }
    expect(statements.length).toBeGreaterThan(30);
  });

  it('the parser refuses a broken statement', () => {
    for (const broken of ['CREATE TABLE a (b', 'CREATE TABLE a (b text NOT NULLL)']) {
      expect(problemOf(name, broken), broken).toBeDefined();
    }
  });
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

  it.each(changeModes)('takes the script that applies changes: %s', async (mode) => {
    const folder = 'gs://bucket/demo';
    expect(
      await problem(changeScript(tables, { dialect: 'bigquery', mode, folder, format: 'parquet' })),
    ).toBeUndefined();
  });

  it('refuses a broken statement', async () => {
    expect(await problem("LOAD DATA INTO a FROM FILE (format = 'CSV')")).toContain('Syntax error');
    expect(await problem('SELECT 1; CREATE TABLE a (b')).toContain('Syntax error');
  });
});
