import { count, plural } from '../../lib/format-text.ts';
import type { Look, ReportFacts } from './report-data.ts';

const mostLooks = 6;
const mostNames = 6;

/** What a reader should not miss. */
export function worthALook(facts: ReportFacts): Look[] {
  return [
    ...fateLooks(facts),
    ...unlistedLook(facts),
    ...driftLook(facts),
    ...nullColumns(facts),
    ...retryLook(facts),
  ].slice(0, mostLooks);
}

function fateLooks({ counts, unexported }: ReportFacts): Look[] {
  const mostOften = (fate: string): string => {
    const groups = unexported.groups.filter((group) => group.fate === fate);
    return groups[0] === undefined ? '' : `, most often: ${groups[0].reason}`;
  };
  const are = (number: number): string => (number === 1 ? 'is' : 'are');
  return [
    ...(counts.missing === 0
      ? []
      : [
          {
            target: 'unexported',
            link: `${plural(counts.missing, 'id')} ${are(counts.missing)} missing`,
            rest: ': the service has no such asset, at least not now',
            names: [],
          },
        ]),
    ...(counts.invalid === 0
      ? []
      : [
          {
            target: 'unexported',
            link: counts.invalid === 1 ? '1 line is invalid' : `${count(counts.invalid)} lines are invalid`,
            rest: mostOften('invalid'),
            names: [],
          },
        ]),
    ...(counts.failed === 0
      ? []
      : [
          {
            target: 'unexported',
            link: `${plural(counts.failed, 'id')} failed`,
            rest: mostOften('failed'),
            names: [],
          },
        ]),
  ];
}

/** Above this share of the base's rows a load refuses the deletes, unless it is told otherwise. */
const mostDeletes = 20;

function unlistedLook({ account, base, limit }: ReportFacts): Look[] {
  const unlisted = account.unlisted ?? 0;
  if (base === null || limit !== null || (!base.isSetAside && mostDeletes * unlisted <= (base.rows ?? 0))) return [];
  const link = `${plural(unlisted, 'id')} of the base ${unlisted === 1 ? 'is' : 'are'} not listed now`;
  const rest = base.isSetAside ? ': too many, so the export is set aside' : ': is the id list whole?';
  return unlisted === 0 ? [] : [{ target: 'account', link, rest, names: [] }];
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
