import { noAssetAdvice } from '../client/judgement/absence.ts';
import type { Job } from '../job/job-schema.ts';
import { hasLake } from '../job/output-schema.ts';
import { ExportError } from '../../lib/export-error.ts';
import { count, plural } from '../../lib/format-text.ts';
import { noCounts, noProofs } from '../../places/export/export-facts.ts';
import type { ExportAccount, ExportOutcome } from './complete-export.ts';

/** What of a job judges its export. */
export interface Judging {
  readonly tolerance: Job['tolerance'];
  readonly output: Pick<Job['output'], 'onDrift' | 'latest' | 'lake'>;
}

/** Why a complete export is not good enough for its job (`notTolerated`), or undefined when it is. */
export function intolerable(
  account: Pick<ExportAccount, 'counts' | 'drift' | 'proofs' | 'base' | 'setAside' | 'limit'>,
  { tolerance, output }: Judging,
): ExportError | undefined {
  const error =
    noIds(account) ??
    noAssets(account, tolerance) ??
    unlistedRows(account, tolerance) ??
    lostRows(account, tolerance) ??
    overLimit(account, tolerance) ??
    unprovenRows(account, tolerance) ??
    (output.onDrift === 'fail' ? drifted(account) : undefined);
  const left = [
    ...(output.latest ? ['latest was not moved.'] : []),
    ...(hasLake({ output }) ? ['The export was not published in the lake.'] : []),
  ];
  if (error === undefined || left.length === 0) return error;
  return new ExportError(error.exit, error.message, { todo: [error.todo, ...left].join(' ') });
}

/** Why a run whose export is complete does not end with 0, if so: the same however often it is run. */
export function errorOf({ error, state, account }: ExportOutcome, job: Judging): ExportError | undefined {
  return error ?? (state === 'unfinished' ? undefined : intolerable(account, job));
}

/** The error that a run will end with because of its ids alone. */
export function intolerableIds(
  { read, invalid, duplicates }: Readonly<Record<'read' | 'invalid' | 'duplicates', number>>,
  job: Judging,
): ExportError | undefined {
  const error = intolerable({ counts: { ...noCounts, read, invalid, duplicate: duplicates }, drift: [] }, job);
  if (error === undefined) return undefined;
  return new ExportError(error.exit, error.message, {
    todo: 'Check the ids. A run would export the valid ones and end with exit 3.',
  });
}

/** The records are not as the specification says, and the job wants to know. */
function drifted({ drift }: Pick<ExportAccount, 'drift'>): ExportError | undefined {
  if (drift.length === 0) return undefined;
  const times = drift.reduce((sum, { count }) => sum + count, 0);
  const some = drift.slice(0, 3).map(({ kind, path, sampleId }) => `${kindWords[kind]} ${path} (asset ${sampleId})`);
  const more = drift.length > some.length ? `, and ${drift.length - some.length} more paths` : '';
  return new ExportError(
    'notTolerated',
    `schema drift: records differ from the specification ${times} times, and output.onDrift is fail: ${some.join(', ')}${more}`,
    {
      todo: 'The files are complete and nothing is lost. manifest.json in the output folder lists every path under drift.',
    },
  );
}

const kindWords = { misfit: 'misfit at', unknownField: 'unknown field', unknownValue: 'unknown value at' } as const;

/** An empty list is a mistake more often than a wish: a load of what comes of it empties a table. */
function noIds({ counts }: Pick<ExportAccount, 'counts'>): ExportError | undefined {
  if (counts.read > 0) return undefined;
  return new ExportError('notTolerated', 'no id was read: the id files are empty', {
    todo: 'Check the program that writes the id files. The export is complete but has no rows.',
  });
}

/** Ids that are all missing are those of something else more often than not. */
function noAssets(
  { counts, base }: Pick<ExportAccount, 'counts' | 'base'>,
  { allowNone }: Job['tolerance'],
): ExportError | undefined {
  if (allowNone || base !== undefined || counts.exported > 0 || counts.missing === 0) return undefined;
  const asked = counts.missing + counts.failed;
  return new ExportError('notTolerated', `no requested id is an asset (${plural(asked, 'id')})`, {
    todo: `${noAssetAdvice} The export is complete but has no rows; with --allow-none it ends with exit 0.`,
  });
}

/** Whether so many rows of the base are not listed now that the export is set aside. */
export function isOverUnlisted(
  base: Pick<NonNullable<ExportAccount['base']>, 'rows' | 'unlisted'> | undefined,
  { maxUnlisted }: Pick<Job['tolerance'], 'maxUnlisted'>,
): boolean {
  return base !== undefined && isOver(base.unlisted, maxUnlisted, base.rows);
}

/** A list that is cut short is a mistake more often than a wish: a load of what comes of it deletes all that it lacks. */
function unlistedRows(
  { base, setAside, limit }: Pick<ExportAccount, 'base' | 'setAside' | 'limit'>,
  tolerance: Job['tolerance'],
): ExportError | undefined {
  if (base === undefined || limit !== undefined || !isOverUnlisted(base, tolerance)) return undefined;
  const { rows, unlisted, name } = base;
  const aside =
    setAside === undefined ? '' : ' The export is set aside: it is no base for the next night and not latest.';
  return new ExportError(
    'notTolerated',
    `${count(unlisted)} of ${count(rows)} assets of the base ${name} are not listed now, but tolerance.maxUnlisted allows ${tolerance.maxUnlisted}.${aside}`,
    {
      todo: 'Check whether the id list is whole. If it is, run the same command with a larger --max-unlisted: it costs no call.',
    },
  );
}

/** Of requested rows of the base, the most that the service may not know any more: an outage may look like that. */
const mostLost = '20%';

function lostRows({ base }: Pick<ExportAccount, 'base'>, { maxMissing }: Job['tolerance']): ExportError | undefined {
  const asked = base?.classes.reduce((sum, each) => sum + each.asked, 0) ?? 0;
  const lost = base?.lost ?? 0;
  const limit = maxMissing ?? mostLost;
  if (base === undefined || !isOver(lost, limit, asked)) return undefined;
  return new ExportError(
    'notTolerated',
    `${lost} of ${asked} requested assets of the base ${base.name} are missing now, but tolerance.maxMissing allows ${limit}`,
    { todo: 'Check the service before loading this export. unexported/ in the output folder lists these ids.' },
  );
}

/** Limits of missing and failed ids count those that were requested: with a base, others stay missing from night to night. */
function overLimit(
  { counts, base }: Pick<ExportAccount, 'counts' | 'base'>,
  tolerance: Job['tolerance'],
): ExportError | undefined {
  const settled = counts.exported + counts.missing + counts.failed;
  const asked = base === undefined ? settled : Object.values(base.asked).reduce((sum, ids) => sum + ids, 0);
  const over = [
    {
      name: 'missing',
      value: counts.missing - (settled - asked),
      of: asked,
      limit: tolerance.maxMissing ?? '100%',
      field: 'tolerance.maxMissing',
    },
    { name: 'failed', value: counts.failed, of: asked, limit: tolerance.maxFailed, field: 'tolerance.maxFailed' },
    {
      name: 'invalid',
      value: counts.invalid,
      of: counts.read,
      limit: tolerance.maxInvalid,
      field: 'tolerance.maxInvalid',
    },
  ].filter(({ value, limit, of }) => isOver(value, limit, of));
  if (over.length === 0) return undefined;
  const words = over.map(
    ({ name, value, limit, field }) =>
      `${plural(value, 'id')} ${value === 1 ? 'is' : 'are'} ${name}, but ${field} allows ${limit}`,
  );
  return new ExportError('notTolerated', words.join('; '), {
    todo: 'The files are complete. unexported/ in the output folder lists these ids with reasons. To accept them, raise the limit and run the same command again: nothing is requested.',
  });
}

/** Rows whose values do not give the hashes that their records carry. */
function unprovenRows(
  { proofs = noProofs }: Pick<ExportAccount, 'proofs'>,
  { maxUnproven }: Job['tolerance'],
): ExportError | undefined {
  const { unproven, checked } = proofs;
  if (!isOver(unproven, maxUnproven, checked)) return undefined;
  return new ExportError(
    'notTolerated',
    `${count(unproven)} of ${count(checked)} compressed assets do not agree with their hashes, but tolerance.maxUnproven allows ${maxUnproven}`,
    { todo: 'The files are complete. creators_agree, metadata_agrees and leaf_agrees say which rows these are.' },
  );
}

/** A limit is `20` ids, or `0.5%` of `all`: computed exactly, as 0.29 * 100 is less than 29. */
function isOver(value: number, limit: string | number, all: number): boolean {
  const [, whole, decimals = ''] = /^(\d+)(?:\.(\d+))?%$/.exec(String(limit)) ?? [];
  if (whole === undefined) return value > Number(limit);
  const hundred = 100n * 10n ** BigInt(decimals.length);
  return BigInt(value) * hundred > BigInt(whole + decimals) * BigInt(all);
}
