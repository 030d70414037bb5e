import { setMaxListeners } from 'node:events';
import { type CreatedClient, createClient } from '../client/create-client.ts';
import type { Job } from '../job/job-schema.ts';
import { HashSet128 } from '../lib/hash-set-128.ts';
import { peeked } from '../lib/peeked.ts';
import type { Journal } from '../store/journal.ts';
import type { Tally } from '../store/tally.ts';
import { type Batch, batchIds } from './batch-ids.ts';
import { countEntries, type ReadProgress } from './count-entries.ts';
import type { ExportContext } from './export-context.ts';
import { IdForecast } from './id-forecast.ts';
import { markDuplicates } from './mark-duplicates.ts';
import { neededBatches } from './needed-batches.ts';
import { partsOf } from './part-flow.ts';
import type { PreparedInputs } from './prepare-inputs.ts';
import { readIds } from './read-ids/read-ids.ts';
import { cutStretches, type Stretch } from './threads/cut-stretches.ts';
import type { StartThread } from './threads/offers.ts';
import { unpackBatch } from './threads/packed-batch.ts';
import { partsOfThreads } from './threads/thread-crew.ts';
import type { FinishedPart } from './write-parts.ts';

export interface PartsRequest {
  readonly job: Job;
  readonly prepared: PreparedInputs;
  readonly journal: Journal;
  /** Calls sent, and what they may have cost. */
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

/** Answers in flight, and entries and answers whose rows are not written, all threads together. */
const mostBytes = 32 * 1024 * 1024;

/**
 * The flow: ids → duplicates → batches → parts, made on this thread or by others. Each stage pulls the one before. Yields
 * each part when its files are whole and named.
 */
export async function* makeParts(request: PartsRequest, context: ExportContext): AsyncGenerator<MadePart, void, void> {
  const { job, journal, calls, credits } = request;
  const { concurrency, timeoutMs, retries } = job.service;
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
    onFree: async ({ sent }) => {
      await Promise.all([calls.add(sent ? 0 : -1), credits.add(-job.budget.creditsPerCall)]);
    },
    stop,
  });
  const making: Making = {
    ...{ request, context, wire, stop },
    halt: (reason) => {
      halt.abort(reason);
    },
  };
  try {
    for await (const part of partsFrom(batchesToAsk(request, context), making)) {
      const cap = wire.cap();
      yield { part, cap: Number.isFinite(cap) ? cap : undefined };
    }
  } finally {
    await wire.close();
  }
}

interface Making {
  readonly request: PartsRequest;
  readonly context: ExportContext;
  readonly wire: CreatedClient;
  readonly stop: AbortSignal;
  readonly halt: (reason: unknown) => void;
}

function batchesToAsk(request: PartsRequest, { listener }: ExportContext): AsyncIterable<Batch> {
  const { job, prepared, progress, isNeeded } = request;
  const { rowsPerPart } = job.output;
  const read = readIds(prepared.inputs, {
    column: job.ids.column,
    expected: prepared.fingerprints,
    onBytes: (bytes) => (progress.inputBytes += bytes),
  });
  const entries = markDuplicates(
    countEntries(read, progress, listener),
    new HashSet128(),
    new IdForecast(prepared.fingerprints, () => progress.inputBytes),
  );
  const { idsPerCall } = job.service;
  return neededBatches(batchIds(entries, { idsPerCall, rowsPerPart }), { rowsPerPart, isNeeded });
}

/** Parts made by threads, where there is more than one stretch to make and more than one thread to make it. */
async function* partsFrom(batches: AsyncIterable<Batch>, making: Making): AsyncGenerator<FinishedPart, void, void> {
  const { request, context } = making;
  const most = threadsFor(request.job, context);
  if (most === 1 || context.threads === undefined) {
    yield* partsMadeHere(batches, making);
    return;
  }
  const { isNeeded, job } = request;
  const ahead = await peeked(cutStretches(batches, { rowsPerPart: job.output.rowsPerPart, isNeeded }), 2);
  if (ahead.first.length < 2) yield* partsMadeHere(batchesOf(ahead.first), making);
  else yield* partsMadeByThreads(ahead.all, { ...making, most, start: context.threads.start });
}

function partsMadeHere(batches: AsyncIterable<Batch>, { request, context, wire, halt }: Making) {
  return partsOf(batches, {
    ...{ ...request, files: context.files, client: wire.client, halt, mostBytes },
    sources: sourcesOf(request),
    concurrency: request.job.service.concurrency,
    onHolding: (holding) => {
      context.listener({ kind: 'holding', thread: 0, ...holding });
    },
  });
}

function partsMadeByThreads(
  stretches: AsyncGenerator<Stretch, void, void>,
  { request, context, wire, stop, halt, most, start }: Making & { readonly most: number; readonly start: StartThread },
) {
  const { job, journal, startedAtMs } = request;
  const { service, proxy } = context;
  return partsOfThreads({
    ...{ client: wire, journal, most, start, context, stop, halt },
    stretches,
    settings: {
      ...{ job, service, proxy, startedAtMs },
      sources: sourcesOf(request),
      hasKept: journal.size() > 0,
      mostBytes: mostBytes / most,
      concurrency: Math.ceil(job.service.concurrency / most),
    },
  });
}

function sourcesOf({ prepared }: PartsRequest): string[] {
  return prepared.inputs.map((input) => input.name);
}

/** Parts that are made out of order wait with their ids in memory: so many entries, and no more. */
const mostEntriesInThreads = 1_000_000;

/** A thread without a call of its own would do nothing. */
function threadsFor({ service, output }: Job, { threads }: ExportContext): number {
  const most = Math.min(threads?.most ?? 1, service.concurrency);
  return Math.max(1, Math.min(most, Math.floor(mostEntriesInThreads / output.rowsPerPart)));
}

async function* batchesOf(stretches: readonly Stretch[]): AsyncGenerator<Batch, void, void> {
  for (const { batches } of stretches) for (const packed of batches) yield unpackBatch(packed);
}
