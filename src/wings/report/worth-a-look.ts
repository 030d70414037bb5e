import { count, plural } from '../../lib/format-text.ts';
import { proofsText } from '../../places/export/export-facts.ts';
import type { Look, ReportFacts } from './report-data.ts';

const mostNames = 6;

/** What a reader should not miss, and no figure of the account shows. */
export function worthALook(facts: ReportFacts): Look[] {
  return [...proofLook(facts), ...driftLook(facts), ...nullColumns(facts), ...retryLook(facts)];
}

function proofLook({ proofs }: ReportFacts): Look[] {
  return proofs === null || proofs.unproven === 0
    ? []
    : [{ target: 'facts', link: proofsText(proofs), rest: '', names: [] }];
}

function driftLook({ drift }: ReportFacts): Look[] {
  const [first] = drift.rows;
  if (first === undefined) return [];
  const all = drift.rows.length + drift.more;
  return [
    {
      target: 'drift',
      link: all === 1 ? '1 field has drift' : `${count(all)} fields have drift`,
      rest: `: records differ from the specification, most often at`,
      names: [first.path],
    },
  ];
}

function nullColumns({ profile }: ReportFacts): Look[] {
  const tables = (profile?.tables ?? [])
    .filter(({ rows }) => rows > 0)
    .map(({ name, columns }) => ({ name, empty: columns.filter(({ filled }) => filled === 0) }))
    .filter(({ empty }) => empty.length > 0);
  const [first] = tables;
  if (first === undefined) return [];
  const all = tables.reduce((total, { empty }) => total + empty.length, 0);
  const where = tables.length === 1 ? ` of ${first.name}` : '';
  const names = tables.flatMap(({ name, empty }) =>
    empty.map((each) => (where === '' ? `${name}.${each.name}` : each.name)),
  );
  return [
    {
      target: `columns-${first.name}`,
      link: `${plural(all, 'column')}${where} ${all === 1 ? 'is' : 'are'} always null`,
      rest: all > mostNames ? ', among them' : ':',
      names: names.slice(0, mostNames),
    },
  ];
}

function retryLook({ runs }: ReportFacts): Look[] {
  const reason = runs?.retryReasons[0]?.name;
  if (runs === null || runs.retries === 0) return [];
  return [
    {
      target: 'run',
      link: runs.retries === 1 ? '1 call was retried' : `${count(runs.retries)} calls were retried`,
      rest: reason === undefined ? '' : `, most often: ${reason}`,
      names: [],
    },
  ];
}
