import { setMaxListeners } from 'node:events';
import { createClient } from '../client/create-client.ts';
import type { Job } from '../job/job-schema.ts';
import { HashSet128 } from '../lib/hash-set-128.ts';
import type { Journal } from '../store/journal.ts';
import type { Tally } from '../store/tally.ts';
import { batchIds } from './batch-ids.ts';
import { countEntries, type ReadProgress } from './count-entries.ts';
import type { ExportContext } from './export-context.ts';
import { fetchBatches } from './fetch-batches.ts';
import { markDuplicates } from './mark-duplicates.ts';
import { neededBatches } from './needed-batches.ts';
import { partSlices } from './part-slices.ts';
import type { PreparedInputs } from './prepare-inputs.ts';
import { readIds } from './read-ids/read-ids.ts';
import { planOf, tablesOf } from './tables-of.ts';
import { type FinishedPart, writeParts } from './write-parts.ts';

export interface PartsRequest {
  readonly job: Job;
  readonly prepared: PreparedInputs;
  readonly journal: Journal;
  /** Calls sent, and credits booked for them. */
  readonly calls: Tally;
  readonly credits: Tally;
  readonly progress: ReadProgress;
  /** When the export began. */
  readonly startedAtMs: number;
  /** Most ids a call, as an earlier run found out. */
  readonly initialCap?: number | undefined;
  readonly isNeeded: (part: number) => boolean;
  /** With 0, an export of nothing gets its one part. */
  readonly firstPart: number;
}

export interface MadePart {
  readonly part: FinishedPart;
  /** Most ids a call, once the service refused more. */
  readonly cap: number | undefined;
}

/**
 * The flow: ids → duplicates → batches → answers → slices of parts → files. Each stage pulls the one before. Yields each
 * part when its files are whole and named.
 */
export async function* makeParts(request: PartsRequest, context: ExportContext): AsyncGenerator<MadePart, void, void> {
  const { job, prepared, journal, calls, credits, progress, isNeeded } = request;
  const { rowsPerPart } = job.output;
  const { idsPerCall, concurrency, timeoutMs, retries, flags, singles } = job.service;
  // The first failure ends what waits; exchanges in flight go on and are journaled: they are paid for.
  const halt = new AbortController();
  const stop = AbortSignal.any([context.stop, halt.signal]);
  // Every call that waits listens to it: their number is bounded by concurrency, not by Node's warning at ten.
  setMaxListeners(0, stop, context.abort);
  const wire = createClient({
    ...context,
    ...context.service,
    ...{ concurrency, timeoutMs, retries },
    budget: job.budget,
    initialCap: request.initialCap,
    journal,
    onCall: async () => {
      await Promise.all([calls.add(1), credits.add(job.budget.creditsPerCall)]);
    },
    stop,
  });
  try {
    const tables = tablesOf(job, request.startedAtMs);
    const read = readIds(prepared.inputs, {
      column: job.ids.column,
      expected: prepared.fingerprints,
      onBytes: (bytes) => (progress.inputBytes += bytes),
    });
    const entries = markDuplicates(countEntries(read, progress, context.listener), new HashSet128());
    const batches = neededBatches(batchIds(entries, { idsPerCall, rowsPerPart }), { rowsPerPart, isNeeded });
    const fetched = fetchBatches(batches, {
      client: wire.client,
      flags,
      plan: planOf(tables),
      singles,
      ahead: concurrency + 4,
      halt: (reason) => {
        halt.abort(reason);
      },
    });
    const finished = writeParts(partSlices(fetched, { rowsPerPart, isNeeded }), {
      files: context.files,
      folder: job.output.dir,
      formats: job.output.formats,
      tables,
      compression: job.output.compression,
      escapeFormulas: job.csv.formulas === 'escape',
      csvDialect: job.csv.dialect,
      sources: prepared.inputs.map((input) => input.name),
      rowsPerPart,
      firstPart: request.firstPart,
    });
    for await (const part of finished) {
      const cap = wire.cap();
      yield { part, cap: Number.isFinite(cap) ? cap : undefined };
    }
  } finally {
    await wire.close();
  }
}
