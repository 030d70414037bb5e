import { ExportError } from '../../lib/export-error.ts';
import { entriesOf } from '../../core/ids/mark-duplicates.ts';
import { changesTable } from '../../core/records/columns.ts';
import { callsLeft, partsAfter } from '../../core/run/calls-left.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import { exportSlices } from '../../core/run/export-slices.ts';
import type { HomePlace } from '../../core/run/homes/home-place.ts';
import { homeAt } from '../../core/run/homes/home.ts';
import type { LocalAnswers } from '../../core/work/make-parts.ts';
import { newReadProgress, readJobIds } from '../../core/work/read-job-ids.ts';
import { contentSeal } from '../../places/export/content-seal.ts';
import { begunOf } from '../../places/export/manifest.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { Spent } from '../../places/export/export-facts.ts';
import { writeWhole } from '../../places/files/file-store.ts';
import { AskedAnswers, askedInputs, askedJob, requestIds } from '../nights/index.ts';
import { lastChangesOf, openAnswers } from './based-parts.ts';
import { type BasedPlan, batchesIn, entriesWith, isRequested } from './plan-based-repair.ts';
import { damagedParts, type PreparedDamage } from './rebuild-files.ts';
import { beginRepair, type Repairs, type UnfinishedRepair } from './repair-log.ts';
import type { RepairBill, RequestedParts } from './repair-outcome.ts';

/** Damaged parts that are made again, and what that costs. */
export interface PartsToRequest {
  readonly within: HomePlace;
  readonly damage: PreparedDamage;
  /** Of an export with a base. */
  readonly plan: BasedPlan | undefined;
  /** What the export has cost so far, a repair that was stopped included. */
  readonly spent: Spent;
  /** The repair that was stopped, where it is resumed. */
  readonly unfinished: UnfinishedRepair | undefined;
  readonly repairs: Repairs;
  /** The parts that have to be made now. */
  readonly open: ReadonlySet<number>;
  readonly bill: RepairBill;
  readonly notes: readonly string[];
}

/** Counts what damaged parts cost. A repair that was stopped is finished first, and costs nothing for answers that it kept. */
export async function listParts(
  within: HomePlace,
  damage: PreparedDamage,
  { plan, unfinished, spent }: Pick<PartsToRequest, 'plan' | 'unfinished' | 'spent'>,
): Promise<PartsToRequest> {
  const { job, prepared } = damage;
  const { repairs, notes } = unfinished === undefined ? newRepairs(damage, plan) : { repairs: unfinished, notes: [] };
  const made = new Set(unfinished?.made.map(({ part }) => part));
  const damaged = damagedParts(damage);
  const open = new Set(repairs.parts.filter((part) => !made.has(part) && damaged.has(part)));
  const listed = { within, damage, plan, spent, unfinished, repairs, open, notes };
  let calls = 0;
  if (plan !== undefined) calls = await callsForIds(listed);
  else {
    const kept = unfinished && (await homeAt(within).readAnswers());
    const isNeeded = (part: number): boolean => open.has(part);
    ({ calls } = await callsLeft(entriesOf(job, prepared), job, { isNeeded, kept }));
  }
  return { ...listed, bill: { calls, credits: calls * job.budget.creditsPerCall } };
}

/** Without the base nothing tells which of its ids are not listed any more: only the last part of `changes` does. */
function newRepairs(
  damage: PreparedDamage,
  plan: BasedPlan | undefined,
): { readonly repairs: Repairs; readonly notes: readonly string[] } {
  const { manifest } = damage.finished;
  const parts = damagedParts(damage);
  const withBase = plan?.known !== undefined;
  const repairs = (changes?: string): Repairs => {
    return { seal: contentSeal(manifest), parts: [...parts].sort((a, b) => a - b), withBase, changes };
  };
  const last = manifest.parts - 1;
  const hasChanges = manifest.files.some(({ table }) => table === changesTable.name);
  if (plan === undefined || withBase || !hasChanges || !parts.has(last)) return { repairs: repairs(), notes: [] };
  const changes = lastChangesOf(damage);
  if (changes !== undefined) return { repairs: repairs(changes.path), notes: [] };
  parts.delete(last);
  const note = `Part ${last} cannot be requested again: its table changes names the deleted assets that are not listed any more, and only the base knows them.`;
  return { repairs: repairs(), notes: [note] };
}

/** Lists the ids that the base does not give, and counts the calls that they need. */
async function callsForIds({
  within,
  damage,
  plan,
  unfinished,
  repairs,
  open,
}: Omit<PartsToRequest, 'bill'>): Promise<number> {
  const { files } = damage.target;
  const path = idsPath(within);
  let ids = 0;
  await writeWhole(files, { path }, async (file) => {
    if (plan === undefined) return;
    for await (const batch of batchesIn(damage, plan, new Set(repairs.parts))) {
      const asked = [...batch.ids].filter((id) => isRequested(plan, id));
      ids += asked.length;
      if (asked.length > 0) await file.write(Buffer.from(`${asked.join('\n')}\n`));
    }
  });
  const inner = homeAt(within).asked();
  if (ids === 0 || open.size === 0 || (unfinished && (await inner.readManifest())) !== undefined) return 0;
  const commits = (unfinished && (await inner.readProgress()))?.commits ?? [];
  const kept = unfinished && (await inner.readAnswers());
  const inputs = await askedInputs(files, path);
  const asked = askedJob(damage.job, inner.name);
  return (await callsLeft(entriesOf(asked, inputs), damage.job, { ...partsAfter(commits), kept })).calls;
}

function idsPath({ scratch }: HomePlace): string {
  return pathIn(scratch, exportPaths.askedIds);
}

/** Requests what has to be requested within the budget, and makes the parts. */
export async function requestParts(listed: PartsToRequest, context: ExportContext): Promise<RequestedParts> {
  const { within, damage, unfinished, repairs, plan, spent } = listed;
  if (unfinished === undefined) await beginRepair(within, damage.finished, { repairs, spent });
  const spentNow = { calls: 0, credits: 0 };
  const parts: number[] = [];
  const heard: ExportContext = {
    ...context,
    listener: (event) => {
      if (event.kind === 'committed') parts.push(event.commit.part);
      else if (event.kind !== 'opened') context.listener(event);
    },
  };
  let error: ExportError | undefined;
  try {
    if (plan === undefined) await makeParts(listed, undefined, spentNow, heard);
    else await makeBasedParts(listed, plan, spentNow, heard);
  } catch (reason) {
    if (!(reason instanceof ExportError)) throw reason;
    error = reason;
  }
  return { parts, ...spentNow, ...(error === undefined ? {} : { error }) };
}

type SpentNow = Parameters<typeof exportSlices>[1];

async function makeBasedParts(
  listed: PartsToRequest,
  plan: BasedPlan,
  spentNow: SpentNow,
  context: ExportContext,
): Promise<void> {
  const { within, damage, repairs, unfinished } = listed;
  const { job, target } = damage;
  const path = idsPath(within);
  const hasIds = Number(await target.files.sizeOf(path)) > 0;
  const ids = { job, home: homeAt(within), idsPath: path, onSpent: () => undefined };
  const answers = await AskedAnswers.open(hasIds ? await requestIds(ids, spentNow, context) : undefined);
  const made = new Set(unfinished?.made.map(({ part }) => part));
  const isNeeded = (part: number): boolean => repairs.parts.includes(part) && !made.has(part);
  try {
    const open = await openAnswers(damage, plan, { answers, isNeeded, changes: repairs.changes });
    try {
      await makeParts(listed, open.local, spentNow, context);
    } finally {
      await open.close();
    }
  } finally {
    await answers.close();
  }
}

/** The ordinary export, of the parts that its log lacks. */
async function makeParts(
  { within, damage, plan }: PartsToRequest,
  local: LocalAnswers | undefined,
  spentNow: SpentNow,
  context: ExportContext,
): Promise<void> {
  const { job, prepared, finished } = damage;
  const { job: shape, inputs } = finished.manifest;
  const begun = begunOf(finished.manifest);
  const progress = newReadProgress();
  const entries = () =>
    plan === undefined ? readJobIds(job, prepared, progress, context.listener) : entriesWith(damage, plan);
  const open = await homeAt(within).open({ job: shape, inputs, ...begun }, entries);
  try {
    const made = { ...prepared, fingerprints: inputs };
    await exportSlices({ job, inputs: made, open, progress, whenLost: 'end', local }, spentNow, context);
  } finally {
    await open.close();
  }
}
