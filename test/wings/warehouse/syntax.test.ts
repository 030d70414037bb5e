import { describe, expect, it } from 'vitest';
import { assetsTable, creatorsTable, tables } from '../../../src/core/records/columns.ts';
import { tableFormats } from '../../../src/exports/table-source.ts';
import { ddlFor, dialectNames, loadStatementFor } from '../../../src/wings/warehouse/dialects.ts';
import { exportScript, type ScriptMode, scriptModes } from '../../../src/wings/warehouse/scripts/export-script.ts';
import { exampleExport } from '../../../src/wings/warehouse/scripts/script-export.ts';
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

function exampleScript(dialect: DialectName, mode: ScriptMode, all: readonly Table[]): string {
  const source = exampleExport(all, mode, dialect === 'postgres' ? 'csv' : 'parquet', '');
  return exportScript(source, { dialect, mode, folder: '@stage/demo' });
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

  it.each(scriptModes)('so are those of the script that loads an export: %s', async (mode) => {
    const small = exampleScript(name, mode, [assetsTable, creatorsTable]);
    // The golden files of single tables show how tables are created.
    const applied = small.slice(small.indexOf('-- The rows of the export'));
    await expect(applied).toMatchFileSnapshot(`golden/${mode}-${name}.sql`);
    const statements = statementsOf(name, exampleScript(name, mode, tables)).filter((each) => isKnown(name, each));
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

describe.skipIf(bigqueryProblem === undefined)("BigQuery's own parser", () => {
  const problem = bigqueryProblem ?? (async () => 'npm run engines');

  it.each(tables.map((table) => [table.name, table] as const))('takes every statement of %s', async (_, table) => {
    expect(await problem(ddlFor('bigquery', table))).toBeUndefined();
    for (const format of tableFormats) {
      const load = loadStatementFor('bigquery', { table, format, folder: 'gs://bucket/demo' });
      expect(await problem(load), load).toBeUndefined();
    }
  });

  it.each(scriptModes)('takes the script that loads an export: %s', async (mode) => {
    const script = exampleScript('bigquery', mode, tables);
    expect(await problem(script), script).toBeUndefined();
  });

  it('refuses a broken statement', async () => {
    expect(await problem("LOAD DATA INTO a FROM FILE (format = 'CSV')")).toContain('Syntax error');
    expect(await problem('SELECT 1; CREATE TABLE a (b')).toContain('Syntax error');
  });
});
