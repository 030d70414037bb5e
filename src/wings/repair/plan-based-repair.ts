import { isDeepStrictEqual } from 'node:util';
import { assetClasses, type AssetClasses } from '../nights/index.ts';
import { BaseKeys, marks } from '../nights/index.ts';
import type { Choice } from '../nights/index.ts';
import { findFittingBase } from '../nights/index.ts';
import { ListedIds } from '../nights/index.ts';
import type { OpenBase } from '../nights/index.ts';
import { type Batch, batchesOf, batchIds, batchShape } from '../../core/ids/batch-ids.ts';
import type { Entries } from '../../core/ids/entries.ts';
import { entriesOf } from '../../core/ids/mark-duplicates.ts';
import { noBase } from '../../core/job/job-base.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { HomeContext } from '../../core/run/homes/open-home.ts';
import { baseFiles } from '../nights/index.ts';
import { planRefresh } from '../nights/index.ts';
import type { PreparedDamage } from './rebuild-files.ts';
import type { UnfinishedRepair } from './repair-log.ts';

export interface BasedDamage extends PreparedDamage {
  readonly account: NonNullable<Manifest['base']>;
  /** `base.from` of the job that the repair was given. */
  readonly from: string | undefined;
  /** The repair that was stopped. */
  readonly unfinished: UnfinishedRepair | undefined;
}

/** What is known of the ids of an export with a base. */
export interface BasedPlan {
  /** The base, and what the export requested of its ids then; absent where it is gone. */
  readonly known: { readonly base: OpenBase; readonly choice: Choice } | undefined;
  /** None where the base is gone: then every id is requested again. */
  readonly keys: BaseKeys;
  readonly classes: AssetClasses;
  /** The repair that was stopped, where it is resumed. */
  readonly unfinished: UnfinishedRepair | undefined;
  readonly notes: readonly string[];
}

/** Finds the base and chooses as the export did. @throws {ExportError} `input` when a repair began with the base, and it is gone now */
export async function planBasedRepair(damage: BasedDamage, context: HomeContext): Promise<BasedPlan> {
  const { job, account, from, unfinished } = damage;
  const { folder: place } = damage.finished;
  if (unfinished?.withBase === false) return planWithoutBase(damage, { unfinished, notes: [repairWithoutBase] });
  const found = await findFittingBase(baseFiles(job, context), { job, from, folder: place, pinned: account });
  const planned = found.base === undefined ? found : await planWithBase(damage, found.base);
  if ('keys' in planned) return { ...planned, unfinished, notes: [] };
  if (unfinished !== undefined && from !== noBase) {
    throw new ExportError('input', `the repair of ${place} began with its base and cannot be resumed. ${planned.why}`, {
      todo: 'Restore the base, or name it with --base PATH. With --base none all ids of these parts are requested again.',
    });
  }
  const note = `${planned.why}. Carried rows of damaged parts are requested again too, and count as exported then. Their fetched_at is the start of this export.`;
  const hint = from === noBase ? [] : ['If the base was moved, name it with --base PATH: its rows cost nothing.'];
  return planWithoutBase(damage, { unfinished: undefined, notes: [[note, ...hint].join(' ')] });
}

const repairWithoutBase = 'Resuming the stopped repair, which requests all ids of these parts without the base.';

function planWithoutBase({ job }: BasedDamage, rest: Pick<BasedPlan, 'unfinished' | 'notes'>): BasedPlan {
  return { known: undefined, keys: new BaseKeys(0), classes: assetClasses(job.base), ...rest };
}

async function planWithBase(
  damage: BasedDamage,
  base: OpenBase,
): Promise<Pick<BasedPlan, 'known' | 'keys' | 'classes'> | { readonly why: string }> {
  const { job, account, finished } = damage;
  const { keys, classes, choice } = await planRefresh({
    job,
    base,
    startedAtMs: finished.manifest.startedAtMs ?? 0,
    onWarning: () => undefined,
    entries: (seen) => entriesOf(job, damage.prepared, { seen }),
  });
  const chosen = choice.classes.map(({ rows, asked }) => [rows, asked]);
  const accounted = account.classes.map(({ rows, asked }) => [rows, asked]);
  const isSame = isDeepStrictEqual([choice.asked, choice.overdue, chosen], [account.asked, account.overdue, accounted]);
  if (!isSame)
    return {
      why: `The ids that this export requested cannot be chosen again from ${base.folder}: check budget.creditsPerCall`,
    };
  const plan = { known: { base, choice }, keys, classes };
  const again = new Set(account.withoutBase);
  for await (const { ids } of batchesIn(damage, plan, again)) {
    for (const id of ids) {
      const slot = keys.slotOf(id);
      if (slot >= 0) keys.mark(slot, marks.asked);
    }
  }
  return plan;
}

/** Whether the export requested an id, or a repair does it. */
export function isRequested({ keys }: Pick<BasedPlan, 'keys'>, id: string): boolean {
  const slot = keys.slotOf(id);
  return slot < 0 || keys.has(slot, marks.asked);
}

/** All ids of the export, with repeated ones marked. */
export function entriesWith(
  { job, prepared }: Pick<PreparedDamage, 'job' | 'prepared'>,
  { known, keys }: Pick<BasedPlan, 'known' | 'keys'>,
): AsyncIterable<Entries> {
  return entriesOf(job, prepared, known === undefined ? {} : { seen: new ListedIds(keys) });
}

/** The batches of some parts, each valid until the next one is requested. */
export async function* batchesIn(
  damage: Pick<PreparedDamage, 'job' | 'prepared'>,
  plan: Pick<BasedPlan, 'known' | 'keys'>,
  parts: ReadonlySet<number>,
): AsyncGenerator<Batch, void, void> {
  if (parts.size === 0) return;
  const batches = batchIds(entriesWith(damage, plan), batchShape(damage.job));
  for await (const batch of batchesOf(batches, (part) => parts.has(part))) {
    yield batch;
    batch.entries.release();
  }
}
