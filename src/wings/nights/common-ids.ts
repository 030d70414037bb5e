import { someIdsOf, type Job } from '../../core/job/job-schema.ts';
import type { Choice } from './base/choose-ids.ts';
import type { BaseKeys } from './base/base-keys.ts';
import type { OpenBase } from './base/open-base.ts';
import { ExportError } from '../../lib/export-error.ts';
import { count, plural } from '../../lib/format-text.ts';
import { shownPath } from '../../lib/addresses/shown-text.ts';
import { isOverUnlisted } from '../../core/run/tolerance.ts';

/** `load` refuses to delete more than one row of so many, unless it is told otherwise. */
const mostDeletes = 20;

/**
 * Compares the ids with those of the base, before anything is requested: a list that is cut short, or the base of another job, costs a bill.
 * @returns warnings
 * @throws {ExportError} `input` when they have no id in common
 */
export function compareWithBase({
  job,
  base,
  keys: { rows },
  choice,
}: {
  readonly job: Pick<Job, 'ids' | 'tolerance'>;
  readonly base: Pick<OpenBase, 'folder'>;
  readonly keys: Pick<BaseKeys, 'rows'>;
  readonly choice: Pick<Choice, 'known' | 'unlisted' | 'asked'>;
}): string[] {
  const { known, unlisted } = choice;
  const listed = known + choice.asked.new;
  const name = shownPath(base.folder, process.cwd());
  if (rows > 0 && listed > 0 && known === 0) {
    throw noCommonId(`none of the ${plural(listed, 'id')} is in the base ${name}, which has ${plural(rows, 'asset')}`);
  }
  const warnings: string[] = [];
  if (rows > 0 && 2 * known < listed)
    warnings.push(`only ${count(known)} of ${plural(listed, 'id')} are in the base ${name}; all others are requested`);
  const isOver = isOverUnlisted({ rows, unlisted }, job.tolerance);
  const isRefused = mostDeletes * unlisted > rows;
  if (someIdsOf(job.ids) === undefined && (isOver || isRefused)) {
    const allowed = job.tolerance.maxUnlisted;
    const ends = [
      `${count(unlisted)} of ${plural(rows, 'asset')} of the base ${name} are not listed now. Is the id list whole?`,
      isOver
        ? `tolerance.maxUnlisted allows ${allowed}: the run will end with exit 3, and its export is set aside.`
        : '',
      isRefused ? 'asset-export load refuses so many deletes (--max-deletes, 5% by default).' : '',
    ];
    warnings.push(ends.filter((end) => end !== '').join(' '));
  }
  return warnings;
}

/** A base that is of another job, as it seems. */
export function noCommonId(message: string): ExportError {
  return new ExportError('input', message, {
    todo: 'Check base.from and the id list. For an export that requests everything, use --base none.',
  });
}
