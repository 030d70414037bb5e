import { describe, expect, it } from 'vitest';
import { tables } from '../../../src/core/records/columns.ts';
import { tableFormats } from '../../../src/exports/duckdb-files.ts';
import { ddlFor, loadStatementFor } from '../../../src/wings/warehouse/engines.ts';
import { zetasqlOfTests } from './engines/zetasql-of-tests.ts';
import { exampleScript } from './example-script.ts';

const bigqueryProblem = await zetasqlOfTests("BigQuery's statements are not parsed by its own parser");

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
