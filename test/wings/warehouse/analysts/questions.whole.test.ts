import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { questions, questionsDocument } from '../../../../src/wings/warehouse/analysts/questions.ts';
import { assetsTable, changesTable } from '../../../../src/core/records/columns.ts';
import { nightsView } from '../../../../src/wings/warehouse/in-place/in-place-views.ts';
import { nightsAddress } from '../../../../src/wings/warehouse/in-place/nights-address.ts';
import { localDisk } from '../../../../src/places/files/disk.ts';
import { loadExport } from '../../../../src/wings/load/load-export.ts';
import { parseTarget } from '../../../../src/wings/load/load-target.ts';
import { keptFolder } from '../../../support/temp-folder.ts';
import { grammarsOfTests } from '../engines/grammars-of-tests.ts';
import { zetasqlOfTests } from '../engines/zetasql-of-tests.ts';
import { scriptEngineNames, scriptEngines } from '../scripts/script-engines.ts';
import { exportNights, piecesOf, scriptOf } from '../scripts/script-nights.ts';
import { problemOf } from '../sql-parser.ts';
import { sampled } from '../../../model/support/sample.ts';

const engines = await scriptEngines();
const grammarProblem = await grammarsOfTests('questions for Trino and Spark are not parsed by their grammars');
const bigqueryProblem = await zetasqlOfTests("BigQuery's questions are not parsed by its own parser");

let folder: Awaited<ReturnType<typeof keptFolder>>;
let nights: string[];
beforeAll(async () => {
  folder = await keptFolder();
  nights = await exportNights(folder.path, 'assets,creators,authorities,grouping,files,attributes,changes');
}, 120_000);
afterAll(() => folder.remove());

/** Cells as texts that do not tell how an engine writes numbers and times. */
function plain(row: string): string {
  const cells = Object.values(JSON.parse(row) as Record<string, unknown>);
  return JSON.stringify(
    cells.map((cell) => {
      if (cell === null || typeof cell === 'boolean') return cell;
      if (Array.isArray(cell)) return listOf(cell);
      const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
      if (/^-?\d+(\.\d+)?$/.test(text)) return Number(Number(text).toFixed(6));
      const time = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,3})?)/.exec(text);
      return time === null ? text : `${time[1] ?? ''} ${(time[2] ?? '').slice(0, 8)}`;
    }),
  );
}

/** Structs as lists of texts: names and numbers of members differ, and JSON is text in some engines and a value in others. */
function listOf(value: unknown): unknown {
  if (typeof value === 'string' && /^(\{.*\}|\[.*\])$/s.test(value)) return listOf(JSON.parse(value));
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? String(value) : value;
  return Object.values(value).map(listOf);
}

/** The query as an engine gives its answer with all members: DuckDB's JSON needs the names that the page describes. */
function queryFor(name: (typeof scriptEngineNames)[number], sql: string): string {
  if (name !== 'duckdb') return sql;
  return sql.replace(/\(\((.+)\)\)/, (_, members: string) => {
    const named = members.split(', ').map((member) => `'${member}': ${member}`);
    return `({${named.join(', ')}})`;
  });
}

const versionedTables = ['assets', 'creators', 'authorities', 'grouping', 'files', 'attributes'];

/** Every version of the rows of all nights. */
async function loadVersions(name: 'duckdb' | 'postgres'): Promise<void> {
  const file = `${folder.path}/versions-${(versions += 1)}.duckdb`;
  const target = name === 'duckdb' ? `duckdb:${file}` : (engines.postgres.address ?? '');
  for (const night of nights)
    await loadExport(
      { files: localDisk, folder: night, kind: name, mode: 'scd2', maxDeletes: '100%' },
      parseTarget(target, '/'),
      () => undefined,
    );
  if (name === 'postgres') return;
  await engines.duckdb.run([
    `ATTACH '${file}' AS versions`,
    ...versionedTables.map((table) => `CREATE TABLE "${table}" AS FROM versions."${table}"`),
    'DETACH versions',
  ]);
}

let versions = 0;

const page = readFileSync(new URL('../../../../docs/questions.md', import.meta.url), 'utf8');
const running = scriptEngineNames.filter((name) => !engines[name].isMissing);

const asked = sampled(questions, 4);

describe.each(questions)('$title', (question) => {
  const { mode, sql } = question;

  it.runIf(asked.includes(question))('has the same answer in every engine', async () => {
    const answers = new Map<string, string[]>();
    for (const name of running) {
      await engines[name].renew();
      if (mode === 'nights') {
        // PostgreSQL reads no Parquet in place.
        if (name === 'postgres') continue;
        const address = nightsAddress(`${folder.path}/date=*`, '2026-11-20');
        const views = [assetsTable, changesTable].map((table) =>
          nightsView(name, table, address, `parquet/${table.name}/`),
        );
        await engines[name].run(views);
        answers.set(name, (await engines[name].rows(sql)).map(plain));
        await engines[name].run(['DROP VIEW assets', 'DROP VIEW changes']);
        continue;
      }
      if (mode === 'scd2') {
        // ClickHouse has no load.
        if (name === 'clickhouse') continue;
        await loadVersions(name);
      } else await engines[name].run(piecesOf(await scriptOf(nights.at(-1) ?? '', name)));
      expect((await engines[name].rows(sql)).length).toBeGreaterThan(2);
      answers.set(name, (await engines[name].rows(queryFor(name, sql))).map(plain));
    }
    const [first = []] = answers.values();
    expect(first.length).toBeGreaterThan(2);
    for (const [name, answer] of answers) expect(answer, name).toEqual(first);
  });

  it.each(['bigquery', 'snowflake', 'redshift', 'duckdb', 'postgres', 'clickhouse'] as const)(
    'is parsed for %s',
    (name) => {
      expect(problemOf(name, sql)).toBeUndefined();
    },
  );

  it('is parsed for BigQuery, Trino and Spark by their own grammars', async () => {
    const quoted = (quote: string): string => sql.replace('FROM grouping', `FROM ${quote}grouping${quote}`);
    expect(await bigqueryProblem?.(quoted('`'))).toBeUndefined();
    expect(grammarProblem?.('trino', quoted('"'))).toBeUndefined();
    expect(grammarProblem?.('spark', sql)).toBeUndefined();
  });
});

it.each(
  sampled(
    running.filter((name) => name !== 'clickhouse'),
    2,
  ),
)('of versions are answered by views of the rows that are valid now, in %s', async (name) => {
  const engine = engines[name];
  const [, views = ''] = /```sql\n(CREATE VIEW[^`]*)```/.exec(page) ?? [];
  const ofRows = questions.filter(({ mode }) => mode === undefined);
  const answersTo = async (prefix: string): Promise<string[][]> => {
    const answers: string[][] = [];
    for (const { sql } of ofRows)
      answers.push(
        (await engine.rows(queryFor(name, sql).replace(/\b(FROM|JOIN) (?=[a-z])/g, `$1 ${prefix}`))).map(plain),
      );
    return answers;
  };
  await engine.renew();
  await engine.run(piecesOf(await scriptOf(nights.at(-1) ?? '', name)));
  const expected = await answersTo('');
  await engine.renew();
  await loadVersions(name);
  expect(await answersTo('')).not.toEqual(expected);
  const statements = views.trimEnd().split('\n');
  await engine.run(statements);
  expect(await answersTo('now_')).toEqual(expected);
  await engine.run(statements.map((statement) => `DROP VIEW ${statement.split(' ')[2] ?? ''};`));
});

it('docs/questions.md holds them (npm run docs renews it)', () => {
  expect(page.slice(page.indexOf('## '))).toBe(questionsDocument());
});
