import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { questions, questionsDocument } from '../../../../src/wings/warehouse/analysts/questions.ts';
import { keptFolder } from '../../../support/temp-folder.ts';
import { grammarsOfTests } from '../engines/grammars-of-tests.ts';
import { zetasqlOfTests } from '../engines/zetasql-of-tests.ts';
import { engineNames, scriptEngines } from '../scripts/script-engines.ts';
import { exportNights, piecesOf, scriptOf } from '../scripts/script-nights.ts';
import { problemOf } from '../sql-parser.ts';

const engines = await scriptEngines();
const grammarProblem = await grammarsOfTests('questions for Trino and Spark are not parsed by their grammars');
const bigqueryProblem = await zetasqlOfTests("BigQuery's questions are not parsed by its own parser");

let folder: Awaited<ReturnType<typeof keptFolder>>;
let nights: string[];
beforeAll(async () => {
  folder = await keptFolder();
  nights = await exportNights(folder.path, 'assets,creators,attributes,changes');
}, 120_000);
afterAll(() => folder.remove());

/** Cells as texts that do not tell how an engine writes numbers and times. */
function plain(row: string): string {
  const cells = Object.values(JSON.parse(row) as Record<string, unknown>);
  return JSON.stringify(
    cells.map((cell) => {
      if (cell === null || typeof cell === 'boolean') return cell;
      const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
      if (/^-?\d+(\.\d+)?$/.test(text)) return Number(Number(text).toFixed(6));
      const time = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,3})?)/.exec(text);
      return time === null ? text : `${time[1] ?? ''} ${(time[2] ?? '').slice(0, 8)}`;
    }),
  );
}

const running = engineNames.filter((name) => !engines[name].isMissing);

describe.each(questions)('$title', ({ mode, sql }) => {
  it('has the same answer in every engine', async () => {
    const answers = new Map<string, string[]>();
    for (const name of running) {
      await engines[name].renew();
      for (const night of mode === 'scd2' ? nights : nights.slice(-1)) {
        await engines[name].run(piecesOf(await scriptOf(night, name, mode ?? 'replace')));
      }
      answers.set(name, (await engines[name].rows(sql)).map(plain));
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
    expect(await bigqueryProblem?.(sql)).toBeUndefined();
    expect(grammarProblem?.('trino', sql)).toBeUndefined();
    expect(grammarProblem?.('spark', sql)).toBeUndefined();
  });
});

it('docs/questions.md holds them (npm run docs renews it)', () => {
  const page = readFileSync(new URL('../../../../docs/questions.md', import.meta.url), 'utf8');
  expect(page.slice(page.indexOf('## '))).toBe(questionsDocument());
});
