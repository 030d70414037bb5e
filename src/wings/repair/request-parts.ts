import { ExportError } from '../../lib/export-error.ts';
import { entriesOf } from '../../core/ids/mark-duplicates.ts';
import { changesTable } from '../../core/records/columns.ts';
import { callsLeft } from '../../core/run/calls-left.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import { exportSlices } from '../../core/run/export-slices.ts';
import type { HomePlace } from '../../core/run/homes/home-place.ts';
import { homeAt } from '../../core/run/homes/home.ts';
import { newReadProgress, readJobIds } from '../../core/work/read-job-ids.ts';
import { contentSeal } from '../../places/export/content-seal.ts';
import { begunOf } from '../../places/export/manifest.ts';
import { damagedParts, type PreparedDamage } from './rebuild-files.ts';
import { beginRepair, type Repairs, type UnfinishedRepair } from './repair-log.ts';
import type { RepairBill, RequestedParts } from './repair-outcome.ts';

/** Damaged parts that are made again, and what that costs. */
export interface PartsToRequest {
  readonly within: HomePlace;
  readonly damage: PreparedDamage;
  /** The repair that was stopped, where it is resumed. */
  readonly unfinished: UnfinishedRepair | undefined;
  readonly repairs: Repairs;
  readonly bill: RepairBill;
}

/**
 * Counts what damaged parts cost; undefined where none has to be made. A repair that was stopped is finished first, and costs nothing for
 * answers that it kept.
 */
export async function listParts(
  within: HomePlace,
  damage: PreparedDamage,
  unfinished: UnfinishedRepair | undefined,
): Promise<PartsToRequest | undefined> {
  const { job, prepared, finished } = damage;
  const damaged = damagedParts(damage);
  const repairs = unfinished ?? { seal: contentSeal(finished.manifest), parts: [...damaged].sort((a, b) => a - b) };
  const made = new Set(unfinished?.made.map(({ part }) => part));
  const open = new Set(repairs.parts.filter((part) => !made.has(part) && damaged.has(part)));
  if (open.size === 0) return undefined;
  const kept = unfinished && (await homeAt(within).readAnswers());
  const isNeeded = (part: number): boolean => open.has(part);
  const { calls } = await callsLeft(entriesOf(job, prepared), job, { isNeeded, kept });
  return { within, damage, unfinished, repairs, bill: { calls, credits: calls * job.budget.creditsPerCall } };
}

/** Requests what has to be requested within the budget, and makes the parts: the ordinary export, of the parts that its log lacks. */
export async function requestParts(
  { within, damage, unfinished, repairs }: PartsToRequest,
  context: ExportContext,
): Promise<RequestedParts> {
  const { prepared, finished } = damage;
  const { output } = damage.job;
  const tables = output.tables.filter((name) => name !== changesTable.name);
  const job = { ...damage.job, output: { ...output, tables } };
  const { job: shape, inputs, calls, credits } = finished.manifest;
  if (unfinished === undefined) await beginRepair(within, finished.manifest, { repairs, spent: { calls, credits } });
  const spentNow = { calls: 0, credits: 0 };
  const parts: number[] = [];
  const heard: ExportContext = {
    ...context,
    listener: (event) => {
      if (event.kind === 'committed') parts.push(event.commit.part);
      else if (event.kind !== 'opened') context.listener(event);
    },
  };
  const progress = newReadProgress();
  const start = { job: shape, inputs, ...begunOf(finished.manifest) };
  let error: ExportError | undefined;
  try {
    const open = await homeAt(within).open(start, () => readJobIds(job, prepared, progress, heard.listener));
    try {
      const made = { ...prepared, fingerprints: inputs };
      await exportSlices({ job, inputs: made, open, progress, whenLost: 'end' }, spentNow, heard);
    } finally {
      await open.close();
    }
  } catch (reason) {
    if (!(reason instanceof ExportError)) throw reason;
    error = reason;
  }
  return { parts, ...spentNow, ...(error === undefined ? {} : { error }) };
}
