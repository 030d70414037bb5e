import type { Job } from '../job/job-schema.ts';
import { HashSet128 } from '../lib/hash-set-128.ts';
import { readCheckpoint } from '../store/checkpoint.ts';
import { noCounts, sumOf } from '../store/export-facts.ts';
import type { FileStore } from '../store/file-store.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import { readTally } from '../store/tally.ts';
import { readManifest } from '../store/manifest.ts';
import { readJournals } from '../store/journal-entries.ts';
import { batchIds } from './batch-ids.ts';
import { countCalls } from './count-calls.ts';
import type { Entries } from './entries.ts';
import type { Sighting } from './id-entry.ts';
import { jobShape, requireSame } from './job-shape.ts';
import { IdForecast } from './id-forecast.ts';
import { markDuplicates } from './mark-duplicates.ts';
import { type PreparedInputs } from './prepare-inputs.ts';
import { readIds } from './read-ids/read-ids.ts';
import { neededBatches } from './needed-batches.ts';
import { diskEstimate } from './disk-estimate.ts';

/** What an export would cost from where it stands. Nothing was sent. */
export interface ExportPlan {
  readonly read: number;
  readonly valid: number;
  readonly invalid: number;
  readonly duplicates: number;
  /** Entries whose part is committed already. */
  readonly alreadyDone: number;
  /** Calls still to send, when nothing fails: answers that are kept are not asked for again. */
  readonly calls: number;
  readonly credits: number;
  /** Further calls at most, one an id that is missing: only with `showUnverifiedCollections` and `singles`. */
  readonly singleCallsAtMost: number;
  /** UTC days under `creditsPerDay`; `never` when it is below the price of one call; null without it. */
  readonly days: number | 'never' | null;
  /** Seconds at `creditsPerSecond`; null without it. */
  readonly seconds: number | null;
  /** Bytes that the files will take, roughly. */
  readonly diskBytes: number;
  /** Calls that this export has sent so far. */
  readonly callsSent: number;
}

export interface PlanRequest {
  readonly job: Job;
  readonly prepared: PreparedInputs;
  readonly files: FileStore;
}

/** Reads all ids as a run would, and counts. @throws {ExportError} `usage` or `input` when the export began otherwise */
export async function planExport({ job, prepared, files }: PlanRequest): Promise<ExportPlan> {
  const folder = job.output.dir;
  const now = { job: jobShape(job), inputs: [...prepared.fingerprints] };
  const manifest = await readManifest(files, folder);
  const checkpoint = manifest === undefined ? await readCheckpoint(files, folder) : undefined;
  const began = manifest ?? checkpoint?.start;
  if (began !== undefined) requireSame(folder, began, now);
  const commits = checkpoint?.commits ?? [];
  const parts = manifest?.parts ?? commits.length;
  const committed =
    manifest?.counts ??
    sumOf(
      noCounts,
      commits.map(({ counts }) => counts),
    );

  const total = { read: 0, valid: 0, invalid: 0, duplicate: 0 };
  const { column } = job.ids;
  let inputBytes = 0;
  const onBytes = (bytes: number): void => void (inputBytes += bytes);
  const entries = markDuplicates(
    readIds(prepared.inputs, { column, expected: prepared.fingerprints, onBytes }),
    new HashSet128(),
    new IdForecast(prepared.fingerprints, () => inputBytes),
  );
  const counted = countSightings(entries, total);
  const shape = { idsPerCall: job.service.idsPerCall, rowsPerPart: job.output.rowsPerPart };
  const kept = await readJournals(files, folder);
  const counter = countCalls({ kept, flags: job.service.flags, initialCap: commits.at(-1)?.cap });
  let ids = 0;
  const need = { rowsPerPart: shape.rowsPerPart, isNeeded: (part: number) => part >= parts };
  for await (const batch of neededBatches(batchIds(counted, shape), need)) {
    await counter.add(batch);
    ids += batch.ids.length;
    batch.entries.release();
  }
  const calls = counter.calls();
  const { creditsPerCall, creditsPerDay, creditsPerSecond } = job.budget;
  const credits = calls * creditsPerCall;
  return {
    read: total.read,
    valid: total.valid,
    invalid: total.invalid,
    duplicates: total.duplicate,
    alreadyDone: committed.read,
    calls,
    credits,
    singleCallsAtMost: job.service.flags.showUnverifiedCollections && job.service.singles ? ids : 0,
    days: creditsPerDay === undefined ? null : daysFor(calls, creditsPerCall, creditsPerDay),
    seconds: creditsPerSecond === undefined ? null : credits / creditsPerSecond,
    diskBytes: diskEstimate(job, total.valid),
    callsSent: manifest?.calls ?? (await readTally(files, pathIn(folder, exportPaths.callCount))),
  };
}

/** Days of whole calls: credits that do not make a call are of no use. */
function daysFor(calls: number, creditsPerCall: number, creditsPerDay: number): number | 'never' {
  if (calls === 0 || creditsPerCall === 0) return calls === 0 ? 0 : 1;
  const callsPerDay = Math.floor(creditsPerDay / creditsPerCall);
  return callsPerDay === 0 ? 'never' : Math.ceil(calls / callsPerDay);
}

async function* countSightings(
  blocks: AsyncIterable<Entries>,
  total: Record<'read' | Sighting, number>,
): AsyncGenerator<Entries, void, void> {
  for await (const block of blocks) {
    for (let index = 0; index < block.length; index += 1) total[block.sighting(index)] += 1;
    total.read += block.length;
    yield block;
  }
}
