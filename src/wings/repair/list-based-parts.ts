import { askedInputs } from '../nights/index.ts';
import { entriesOf } from '../../core/ids/mark-duplicates.ts';
import { changesTable } from '../../core/records/columns.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { callsLeft, partsAfter } from '../../core/run/calls-left.ts';
import { homeInFolder } from './home-in-folder.ts';
import { askedJob } from '../nights/index.ts';
import { lastChangesOf } from './pending-repair.ts';
import { type BasedDamage, type BasedPlan, batchesIn, isRequested } from './plan-based-repair.ts';
import type { RepairBill } from './repair-outcome.ts';

/** Damaged parts of an export with a base, some of whose ids have to be requested again. */
export interface PartsToRequest {
  readonly damage: BasedDamage;
  readonly plan: BasedPlan;
  /** The parts to make. */
  readonly parts: ReadonlySet<number>;
  /** How many ids are requested: those of all parts of a repair that was stopped, else of these. */
  readonly ids: number;
  readonly bill: RepairBill;
  readonly notes: readonly string[];
}

/** Lists the ids that have to be requested, and counts the calls. */
export async function listBasedParts(damage: BasedDamage, plan: BasedPlan): Promise<PartsToRequest> {
  const { files } = damage.finished;
  const { job } = damage;
  const { parts, notes } = partsToMake(damage, plan);
  const listed = new Set(plan.pending?.parts ?? parts);
  const path = pathIn(job.output.dir, exportPaths.askedIds);
  const file = await files.open(path, 'create');
  let ids = 0;
  try {
    for await (const batch of batchesIn(damage, plan, listed)) {
      const asked = [...batch.ids].filter((id) => isRequested(plan, id));
      ids += asked.length;
      if (asked.length > 0) await file.write(Buffer.from(`${asked.join('\n')}\n`));
    }
    await file.sync();
  } finally {
    await file.close();
  }
  const calls = ids === 0 || parts.size === 0 ? 0 : await callsFor(damage, plan);
  return { damage, plan, parts, ids, bill: { calls, credits: calls * job.budget.creditsPerCall }, notes };
}

/** Without the base nothing tells which of its ids are not listed any more: only the last part of `changes` does. */
function partsToMake(
  { finished, damaged }: BasedDamage,
  { known, pending }: BasedPlan,
): { readonly parts: Set<number>; readonly notes: string[] } {
  const { manifest } = finished;
  const parts = new Set(manifest.files.filter(({ path }) => damaged.has(path)).map(({ part }) => part));
  if (pending !== undefined) return { parts: new Set(pending.parts.filter((part) => parts.has(part))), notes: [] };
  const last = manifest.parts - 1;
  const hasChanges = manifest.files.some(({ table }) => table === changesTable.name);
  if (known !== undefined || !hasChanges || !parts.has(last) || lastChangesOf({ finished, damaged }) !== undefined)
    return { parts, notes: [] };
  parts.delete(last);
  const note = `Part ${last} cannot be requested again: its table changes names the deleted assets that are not listed any more, and only the base knows them.`;
  return { parts, notes: [note] };
}

/** The calls that the list needs. A repair that was stopped keeps answers. */
async function callsFor({ job, finished }: BasedDamage, { pending }: BasedPlan): Promise<number> {
  const { files } = finished;
  const inner = (await homeInFolder(files, job.output.dir)).asked();
  if (pending !== undefined && (await inner.readManifest()) !== undefined) return 0;
  const commits = (pending === undefined ? undefined : await inner.readProgress())?.commits ?? [];
  const kept = pending === undefined ? undefined : await inner.readAnswers();
  const inputs = await askedInputs(files, pathIn(job.output.dir, exportPaths.askedIds));
  const asked = askedJob(job, inner.name);
  return (await callsLeft(entriesOf(asked, inputs), job, { ...partsAfter(commits), kept })).calls;
}
