import { maxAgeOf } from '../nights/index.ts';
import { type Answers, RefreshAsker } from '../nights/index.ts';
import type { ManifestFile } from '../../exports/finished-export.ts';
import { entriesOf } from '../../core/ids/mark-duplicates.ts';
import type { HashSet128 } from '../../lib/hash/hash-set-128.ts';
import { compareAssets } from '../../core/records/asset-changes.ts';
import { assetsTable, changesTable } from '../../core/records/columns.ts';
import { blockOf, type RowBlock } from '../../core/records/row-block.ts';
import type { LocalAnswers } from '../../core/work/make-parts.ts';
import { tablesOf } from '../../core/work/tables-of.ts';
import { openBasedParts } from '../nights/index.ts';
import { inThousands } from './rebuild-files.ts';
import { type BasedDamage, type BasedPlan } from './plan-based-repair.ts';

export interface AnswersOfParts {
  /** What became of the ids that were requested. */
  readonly answers: Answers;
  readonly isNeeded: (part: number) => boolean;
  /** A file of `changes` of the last part; used where the base is gone. */
  readonly lastChanges: ManifestFile | undefined;
}

/** Opens what damaged parts are made of. Call `close` when they are made. */
export async function openAnswers(
  damage: BasedDamage,
  { known, keys, classes }: BasedPlan,
  { answers, isNeeded, lastChanges }: AnswersOfParts,
): Promise<{ readonly local: LocalAnswers; close(): Promise<void> }> {
  const { job, finished, prepared } = damage;
  const startedAtMs = finished.manifest.startedAtMs ?? 0;
  if (known !== undefined) {
    const { files } = finished;
    const request = {
      job,
      base: known.base,
      files,
      folder: job.output.dir,
      startedAtMs,
      entries: (seen: Pick<HashSet128, 'addAll'>) => entriesOf(job, prepared, { seen }),
    };
    return openBasedParts(request, { keys, classes }, { answers, isNeeded });
  }
  const asker = new RefreshAsker({
    keys,
    answers,
    startedAtMs,
    classes: classes.all.length,
    isBaseGone: true,
    rows: { areLines: false, take: noBase, recordsOf: async (none) => none, skip: () => undefined },
    missingAfter: maxAgeOf(job.base.missingAfter),
    compare: compareAssets(assetsTable.columns, job.base.ignore),
  });
  return {
    local: {
      client: asker,
      originsOf: (ids) => asker.originsOf(ids),
      tail: () => unlistedRows(damage, lastChanges),
    },
    close: () => Promise.resolve(),
  };
}

function noBase(): Promise<never> {
  return Promise.reject(new Error('there is no base'));
}

/** The rows of `changes` that are of no id of the export, as its own file has them. */
async function* unlistedRows(
  { finished, job }: Pick<BasedDamage, 'finished' | 'job'>,
  file: ManifestFile | undefined,
): AsyncGenerator<RowBlock, void, void> {
  const shaped = tablesOf(job, finished.manifest.startedAtMs ?? 0).find(({ whole }) => whole === changesTable);
  if (file === undefined || shaped === undefined) return;
  const { columns } = shaped.table;
  const at = columns.findIndex(({ name }) => name === 'reason');
  for await (const rows of inThousands(finished.rows(file, columns)))
    yield blockOf(
      columns,
      rows.filter((row) => row[at] === 'unlisted'),
    );
}
