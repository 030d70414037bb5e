import type { Choice } from '../../base/choose-ids.ts';
import type { BaseKeys } from '../../base/base-keys.ts';
import type { OpenBase } from '../../base/open-base.ts';
import type { Job } from '../../job/job-schema.ts';
import { ExportError } from '../../lib/export-error.ts';
import { count, plural } from '../../lib/format-text.ts';
import { shownPath } from '../../lib/shown-path.ts';
import { isOverUnlisted } from '../tolerance.ts';

export interface ListAndBase {
  readonly job: Pick<Job, 'ids' | 'tolerance'>;
  readonly base: Pick<OpenBase, 'folder'>;
  readonly keys: Pick<BaseKeys, 'rows'>;
  readonly choice: Pick<Choice, 'known' | 'unlisted' | 'asked'>;
}

/**
 * Compares the ids with those of the base, before anything is requested: a list that is cut short, or the base of another job, costs a bill.
 * @returns warnings
 * @throws {ExportError} `input` when they have no id in common
 */
export function compareWithBase({ job, base, keys: { rows }, choice }: ListAndBase): string[] {
  const { known, unlisted } = choice;
  const listed = known + choice.asked.new;
  const name = shownPath(base.folder, process.cwd());
  if (rows > 0 && listed > 0 && known === 0) {
    throw new ExportError(
      'input',
      `none of the ${plural(listed, 'id')} is in the base ${name}, which has ${plural(rows, 'asset')}`,
      {
        todo: 'Check base.from and the id list. For an export that requests everything, use --base none.',
      },
    );
  }
  const warnings: string[] = [];
  if (rows > 0 && 2 * known < listed)
    warnings.push(`only ${count(known)} of ${plural(listed, 'id')} are in the base ${name}; all others are requested`);
  if (job.ids.limit === undefined && isOverUnlisted({ rows, unlisted }, job.tolerance))
    warnings.push(
      `${count(unlisted)} of ${plural(rows, 'asset')} of the base ${name} are not listed now, and tolerance.maxUnlisted allows ${job.tolerance.maxUnlisted}: the run will end with exit 3, and its export is set aside. Is the id list whole?`,
    );
  return warnings;
}
