/** The part of DuckDB's command line that the papers use: `duckdb [-csv] [-noheader] -c SQL`. */
import { parseArgs } from 'node:util';
import { queryDuckdb } from '../support/query-duckdb.ts';

// The real one takes its words with a single dash.
const args = process.argv.slice(2).map((arg) => arg.replace(/^-(csv|noheader)$/, '--$1'));
const { values } = parseArgs({
  args,
  options: { csv: { type: 'boolean' }, noheader: { type: 'boolean' }, c: { type: 'string', short: 'c' } },
});
for (const row of await queryDuckdb(values.c ?? '')) process.stdout.write(`${row.map(String).join(',')}\n`);
