import { basename } from 'node:path';
import { nextUtcMidnight } from '../../lib/clock.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { plural } from '../../lib/format-text.ts';
import { shellWord } from '../../lib/addresses/shown-text.ts';
import type { NextStep, ReportFacts } from './report-data.ts';

/** What to do with the export now. */
export function nextSteps(facts: ReportFacts): NextStep[] {
  const name = shellWord(facts.name.startsWith('-') ? `./${facts.name}` : facts.name);
  if (facts.state.kind === 'goes on') {
    return [{ title: 'Watch the run', about: waitingText(facts), command: `asset-export status ${name} --watch` }];
  }
  if (facts.state.kind === 'stopped') return [resumeStep(facts), statusStep(name)];
  return [
    {
      title: 'Verify the files',
      about: 'Reads every file again and compares it with the manifest.',
      command: `asset-export verify ${name}`,
    },
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

function waitingText({ runs }: ReportFacts): string {
  const until = runs?.waitingUntilMs;
  return until === null || until === undefined || until <= (runs?.runs.at(-1)?.endedMs ?? 0)
    ? 'A process works on this export. This page shows what it had committed.'
    : `The run waits for credits until ${minuteText(until)} UTC.`;
}

function resumeStep({ state, runs }: ReportFacts): NextStep {
  const command = 'asset-export run job.yaml';
  const title = 'Resume the export';
  const again = 'Run the same command again, with the same job or flags. No saved answer is paid for twice.';
  if (state.isKilled) return { title, about: `The last run was killed. ${again}`, command };
  const known = Object.values(exitCodes).find(({ code }) => code === state.exit);
  const ended = runs?.runs.at(-1)?.endedMs;
  if (state.exit === exitCodes.spent.code && ended !== undefined) {
    return { title, about: `Credits are spent. After ${minuteText(nextUtcMidnight(ended))} UTC: ${again}`, command };
  }
  const why = known === undefined ? '' : `The last run ended with exit ${known.code} (${known.meaning}). `;
  return { title, about: `${why}${again}`, command };
}

function statusStep(name: string): NextStep {
  return {
    title: 'See where it stands',
    about: 'Progress, cost and the last error.',
    command: `asset-export status ${name}`,
  };
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

function minuteText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}
