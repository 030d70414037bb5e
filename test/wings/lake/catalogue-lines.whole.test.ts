import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import {
  type CatalogueEngine,
  catalogueEngines,
  catalogueText,
  publishedTables,
} from '../../../src/wings/lake/index.ts';
import { readersAddress } from '../../../src/wings/lake/table-files.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { clickhouseOfTests } from '../warehouse/engines/clickhouse-of-tests.ts';
import { grammarsOfTests } from '../warehouse/engines/grammars-of-tests.ts';
import { zetasqlOfTests } from '../warehouse/engines/zetasql-of-tests.ts';
import { problemOf } from '../warehouse/sql-parser.ts';
import { allTables, openRoot, runNight } from './support/lake-root.ts';

const untested = 'the lines of lake --for';
const clickhouse = clickhouseOfTests(`${untested} clickhouse are not run`);
const grammarProblem = await grammarsOfTests(`${untested} trino are not parsed by its grammar`);
const bigqueryProblem = await zetasqlOfTests(`${untested} bigquery are not parsed by its own parser`);

const tablesIn = (root: string) =>
  Object.fromEntries(
    allTables.map((name) => [
      name,
      { metadata: `${root}/lake/${name}/metadata/v3.metadata.json`, snapshot: 1503942837593047 },
    ]),
  );
const linesOf = (engine: CatalogueEngine, root: string): string[] =>
  statements(catalogueText(engine, tablesIn(root), root));
/** What ends a literal or an argument, or begins a comment or a command, if it is not quoted. */
const roots = [
  's3://bucket/nightly',
  String.raw`gs://bucket/it's $(echo x) \n -- "x" #ü`,
  `az://account/container/it's`,
].map(readersAddress);
const statements = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('--'))
    .map((line) => line.replace(/;$/, ''));

it.skipIf(grammarProblem === undefined).each(roots)('the grammar of Trino takes its lines for %s', (root) => {
  const lines = linesOf('trino', root);
  expect(lines).toHaveLength(2 * allTables.length);
  for (const line of lines) expect(grammarProblem?.('trino', `${line};`), line).toBeUndefined();
});

it.skipIf(grammarProblem === undefined).each(roots)(
  'the grammar of Spark takes the text of its lines for %s',
  (root) => {
    const [, call = ''] = linesOf('spark', root);
    // The grammar has neither CALL nor names of three words.
    const [, text = ''] = /metadata_file => (.*)\)$/.exec(call) ?? [];
    expect(grammarProblem?.('spark', `SELECT ${text};`), text).toBeUndefined();
  },
);

it.skipIf(bigqueryProblem === undefined).each(roots)("BigQuery's own parser takes its lines for %s", async (root) => {
  const lines = linesOf('bigquery', root);
  expect(lines).toHaveLength(allTables.length);
  for (const line of lines) expect(await bigqueryProblem?.(line), line).toBeUndefined();
});

it.each(roots)('a general parser takes the lines for DuckDB, for %s', (root) => {
  const lines = linesOf('duckdb', root);
  expect(lines).toHaveLength(allTables.length);
  for (const line of lines) expect(problemOf('duckdb', line), line).toBeUndefined();
});

it.each(roots)('the lines for Athena are JSON in one word of the shell, for %s', async (root) => {
  const lines = linesOf('athena', root).filter((line) => !line.startsWith('#'));
  expect(lines).toHaveLength(2 * allTables.length);
  for (const line of lines) {
    const { stdout } = await promisify(execFile)('sh', ['-c', `aws() { printf '%s' "$6"; }; ${line}`]);
    expect(JSON.parse(stdout)).toMatchObject({
      StorageDescriptor: { Location: expect.stringContaining(root) as string },
    });
  }
});

it.each(catalogueEngines.filter((engine) => engine !== 'athena'))(
  'a statement for %s ends where its line ends',
  (engine) => {
    for (const root of roots) {
      const lines = catalogueText(engine, tablesIn(root), root).trimEnd().split('\n');
      for (const line of lines) expect(line).toMatch(/^--|^[^;]*;$/);
    }
  },
);

it('the lines for ClickHouse have addresses that are URLs, and the account of Azure as a comment before', () => {
  const text = (root: string): string => catalogueText('clickhouse', tablesIn(root), root);
  expect(text('s3://bucket/x y/ü%41#?')).toContain(
    "IcebergS3('https://bucket.s3.amazonaws.com/x%20y/%C3%BC%2541%23%3F/lake/assets/',",
  );
  expect(text('abfss://cont@acct.dfs.core.windows.net/p')).toContain(
    "-- CONNECTION_STRING: of the account acct.\nCREATE OR REPLACE TABLE assets ENGINE = IcebergAzure('CONNECTION_STRING', 'cont', 'p/lake/assets/');\n",
  );
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
