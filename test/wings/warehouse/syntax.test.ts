import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { assetsTable, creatorsTable, filesTable, tables } from '../../../src/core/records/columns.ts';
import { tableFormats } from '../../../src/exports/duckdb-files.ts';
import { ddlFor, engineNames, engines, loadStatementFor } from '../../../src/wings/warehouse/engines.ts';
import type { Engine } from '../../../src/wings/warehouse/engine.ts';
import type { EngineName } from '../../../src/wings/warehouse/engines.ts';
import { recordTable } from '../../../src/wings/warehouse/scripts/record-table.ts';
import { exampleScript } from './example-script.ts';
import { isKnown, problemOf } from './sql-parser.ts';

/** The statements of a script, without comments and psql's own commands. A block of PostgreSQL has statements of its own. */
function statementsOf(name: EngineName, script: string): string[] {
  return script
    .replaceAll(/^(?:--|\\copy|\\set).*$/gm, '')
    .split(name === 'postgres' ? /;\n(?:\n|$)/ : /;\n/)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '');
}

describe.each(engineNames)('for %s', (name) => {
  it('every statement is one that a parser of the engine takes', () => {
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
    expect(statements.length).toBeGreaterThan(10);
  });

  it('the script has at most 60 lines beside those of columns and files, and no condition twice', () => {
    const all = [assetsTable, creatorsTable, filesTable, recordTable];
    const names = new Set(all.flatMap(({ columns }) => columns.map((column) => column.name)));
    const isOfColumns = (line: string): boolean =>
      /^(COMMENT ON COLUMN|  PRIMARY KEY| +\(table, name\) IN) |part-/.test(line) ||
      names.has(/^\s+["`]?(\w+)["`]? /.exec(line)?.[1]?.toLowerCase() ?? '');
    const lines = exampleScript(name, all.slice(0, 3)).split('\n');
    const counted = lines.filter((line) => line.trim() !== '' && !isOfColumns(line));
    expect(counted.length).toBeLessThanOrEqual(60);
    expect(lines.join('\n').match(/_stage_assets["`]?\) = 1000/g)).toHaveLength(1);
  });

  it('the parser refuses a broken statement', () => {
    for (const broken of ['CREATE TABLE a (b', 'CREATE TABLE a (b text NOT NULLL)']) {
      expect(problemOf(name, broken), broken).toBeDefined();
    }
  });
});

it('docs/warehouses.md has the types and limits of each warehouse', () => {
  const page = readFileSync(new URL('../../../docs/warehouses.md', import.meta.url), 'utf8');
  for (const name of engineNames) {
    const { types, longestText }: Engine = engines[name];
    const texts = [...new Set([types.string, types.json])].map((type) => `\`${type}\``).join(', ');
    const others = [types.int64, types.decimal, types.timestamp].map((type) => `\`${type}\``).join(' | ');
    expect(page).toContain(`| \`${name}\` | ${texts} | ${others} | ${longestText?.toLocaleString('en') ?? ''} |\n`);
  }
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
