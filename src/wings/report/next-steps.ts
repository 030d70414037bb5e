import { basename } from 'node:path';
import { plural } from '../../lib/format-text.ts';
import { shellWord } from '../../lib/addresses/shown-text.ts';
import type { NextStep, ReportFacts } from './report-data.ts';

/** What to do with a complete export. The summary and `status` say how to verify, watch and resume one. */
export function nextSteps(facts: ReportFacts): NextStep[] {
  const name = shellWord(facts.name.startsWith('-') ? `./${facts.name}` : facts.name);
  if (facts.state.kind !== 'complete') return [];
  return [
    {
      title: 'Load into DuckDB',
      about: 'Creates the tables and loads them in one transaction.',
      command: `asset-export load ${name} --to duckdb:${fileName(facts.name)}.duckdb`,
    },
    {
      title: 'Load into PostgreSQL',
      about: 'The same; the password is in PGPASSWORD.',
      command: `asset-export load ${name} --to postgres://user@host/database`,
    },
    {
      title: 'Print DDL for a warehouse',
      about: 'Also for snowflake, clickhouse, redshift, duckdb and postgres.',
      command: 'asset-export schema --for bigquery',
    },
    ...againSteps(facts, name),
  ];
}

/** Of a folder or the address of a bucket. */
function fileName(name: string): string {
  return shellWord(basename(name));
}

/** Missing and failed ids, requested again into an export of their own. */
function againSteps(facts: ReportFacts, name: string): NextStep[] {
  const { counts, calls, credits, runs, settings } = facts;
  const ids = counts.missing + counts.failed;
  if (ids === 0) return [];
  const idsPerCall =
    runs?.idsPerCall ?? Number(settings.find((setting) => setting.name === 'service.idsPerCall')?.value ?? 1000);
  const more = Math.ceil(ids / idsPerCall);
  const perCall = runs?.creditsPerCall ?? (calls === 0 ? 0 : credits / calls);
  const fates = counts.failed === 0 ? `outcome = 'missing'` : `outcome IN ('missing', 'failed')`;
  const fate = counts.failed === 0 ? 'missing' : counts.missing === 0 ? 'failed' : 'missing and failed';
  const folder = facts.name.replaceAll("'", "''");
  const query = `COPY (SELECT id FROM read_csv('${folder}/unexported/*.csv*', header = true, all_varchar = true) WHERE ${fates}) TO 'again.csv'`;
  return [
    {
      title: `Request the ${fate} ids again`,
      about: `${plural(ids, 'id')} in ${plural(more, 'call')}, ${plural(more * perCall, 'credit')}. The first command writes their file, the second exports them.`,
      // Only a name that needs no quotes for the shell may stand in double ones.
      command: `duckdb -c ${name === facts.name ? `"${query}"` : shellWord(query)}\nasset-export run job.yaml --ids again.csv --out ${name}-again`,
    },
  ];
}
