import { expect, it } from 'vitest';
import { catalogueText, publishedTables } from '../../../src/wings/lake/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { clickhouseOfTests } from '../warehouse/engines/clickhouse-of-tests.ts';
import { grammarsOfTests } from '../warehouse/engines/grammars-of-tests.ts';
import { zetasqlOfTests } from '../warehouse/engines/zetasql-of-tests.ts';
import { problemOf } from '../warehouse/sql-parser.ts';
import { openRoot, runNight } from './support/lake-root.ts';

const untested = 'the lines of lake --for';
const clickhouse = clickhouseOfTests(`${untested} clickhouse are not run`);
const grammarProblem = await grammarsOfTests(`${untested} trino are not parsed by its grammar`);
const bigqueryProblem = await zetasqlOfTests(`${untested} bigquery are not parsed by its own parser`);

const root = 's3://bucket/nightly';
const tables = Object.fromEntries(
  ['creators', 'assets'].map((name) => [
    name,
    { metadata: `${root}/lake/${name}/metadata/v3.metadata.json`, snapshot: 1503942837593047 },
  ]),
);
const statements = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('--'))
    .map((line) => line.replace(/;$/, ''));

it.skipIf(grammarProblem === undefined)('the grammar of Trino takes its lines', () => {
  const lines = statements(catalogueText('trino', tables, root));
  expect(lines).toHaveLength(4);
  for (const line of lines) expect(grammarProblem?.('trino', `${line};`), line).toBeUndefined();
});

it.skipIf(bigqueryProblem === undefined)("BigQuery's own parser takes its lines", async () => {
  const lines = statements(catalogueText('bigquery', tables, root));
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(await bigqueryProblem?.(line), line).toBeUndefined();
});

it('a general parser takes the lines for DuckDB', () => {
  const lines = statements(catalogueText('duckdb', tables, root));
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(problemOf('duckdb', line), line).toBeUndefined();
});

it('the lines for Athena are JSON in one word of the shell', () => {
  const lines = statements(catalogueText('athena', tables, root)).filter((line) => !line.startsWith('#'));
  expect(lines).toHaveLength(4);
  for (const line of lines) {
    const [, input = ''] = /--table-input '([^']*)'$/.exec(line) ?? [];
    expect(JSON.parse(input)).toMatchObject({ Parameters: { table_type: 'ICEBERG' } });
  }
});

it.skipIf(clickhouse.isMissing)(
  'ClickHouse runs its lines, and reads the tables that they make',
  async () => {
    const folder = await tempFolder();
    await runNight(folder, 0, { flags: { tables: 'assets,creators' } });
    const before = process.cwd();
    process.chdir(folder);
    try {
      clickhouse.renew();
      for (const line of statements(catalogueText('clickhouse', await publishedTables(openRoot(folder)), folder)))
        clickhouse.run(line);
      expect(clickhouse.rows('SELECT count() FROM assets')).toEqual([['90']]);
      expect(Number(clickhouse.rows('SELECT count() FROM creators')[0]?.[0])).toBeGreaterThan(10);
    } finally {
      process.chdir(before);
    }
  },
  60_000,
);
