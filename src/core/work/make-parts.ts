import type { ClientListener, AssetClient } from '../client/asset-client.ts';
import { type ClientOptions, createClient, type CreatedClient } from '../client/create-client.ts';
import type { Job } from '../job/job-schema.ts';
import { tlsFor } from '../job/tls-files.ts';
import type { PartsContext } from './parts-context.ts';
import type { BatchOrigins } from './batch-origins.ts';
import { mostAtOnce } from '../client/judgement/call-limit.ts';
import { asksAlone, sizeBounds } from '../job/job-dialect.ts';
import { plural } from '../../lib/format-text.ts';
import { LinkedAbort, untilAborted } from '../../lib/end-work.ts';
import type { Begun, Tally } from '../../places/export/export-facts.ts';
import type { Journal } from '../../places/scratch/journal.ts';
import { type Batch, batchesOf, batchIds, batchShape } from '../ids/batch-ids.ts';
import type { RowBlock } from '../records/row-block.ts';
import type { IdList } from '../ids/id-list.ts';
import type { Entries } from '../ids/entries.ts';
import { partsOf } from './part-flow.ts';
import type { CrewRequest } from './threads/thread-crew.ts';
import type { FinishedPart } from './write-parts.ts';

/**
 * Creates the client for the service of a job. It keeps no answers, unless the traits have a journal.
 * @param traits what differs between the clients of parts, of single assets and of lists
 */
export function clientOf(
  { service, budget }: Pick<Job, 'service' | 'budget'>,
  context: Omit<PartsContext, 'files' | 'threads' | 'listener'> & { readonly listener: ClientListener },
  traits: Pick<ClientOptions, 'onCall' | 'onFree' | 'sent' | 'sizes' | 'missingShare' | 'learnedCalls' | 'allowNone'> &
    Partial<Pick<ClientOptions, 'budget' | 'journal' | 'stop'>>,
): CreatedClient {
  const { concurrency, timeoutMs, retries, tls } = service;
  return createClient({
    ...context,
    ...context.service,
    concurrency,
    timeoutMs,
    retries,
    tls: tlsFor(context.service.url, tls),
    budget,
    journal: { find: () => Promise.resolve(undefined), append: () => Promise.resolve() },
    ...traits,
  });
}

/** Which parts to make, of what, and where. */
export interface PartsToMake {
  /** Local folder where files are made and answers kept. */
  readonly scratch: string;
  readonly journal: Journal;
  /** Calls sent, and the credits that they may have cost. */
  readonly calls: Tally;
  readonly credits: Tally;
  /** The part of the first entry. With 0, an export of nothing gets its one part. */
  readonly firstPart: number;
  readonly isNeeded: (part: number) => boolean;
  /** With duplicates marked. Read once. A block is valid until the next one is requested. */
  entries(): AsyncIterable<Entries>;
  /** Asked when all entries are read: whether no other parts follow them. They are the last ones unless it is given. */
  readonly isLast?: (() => boolean) | undefined;
  /** Awaited before each attempt is sent. @throws when nothing may be sent any more */
  readonly mayCall?: () => Promise<void>;
}

interface PartsRequest {
  readonly job: Job;
  readonly parts: PartsToMake;
  /** Names of the inputs, by `IdEntry.source`. */
  readonly sources: readonly string[];
  readonly begun: Begun;
  /** Most ids a call, as an earlier run found out. */
  readonly initialCap?: number | undefined;
  /** Calls at once that an earlier run ended with. */
  readonly learnedCalls?: number | undefined;
  /** Share of its ids that were missing before. */
  readonly missingShare?: number | undefined;
  /** Where all answers are already, in an export with a base: then nothing is sent. */
  readonly local?: LocalAnswers | undefined;
}

/** Answers that lie on this disk. */
export interface LocalAnswers {
  readonly client: AssetClient;
  readonly originsOf: (ids: IdList) => BatchOrigins | undefined;
  /** Rows of `changes` that are of no id: they go into the last part. */
  readonly tail: () => AsyncIterable<RowBlock>;
}

export interface MadePart {
  readonly part: FinishedPart;
  /** Most ids a call, once the service refused more. */
  readonly cap: number | undefined;
}

/** Answers that are read, and entries and answers whose rows are not written, all threads together. */
const mostBytes = 32 * 1024 * 1024;

/**
 * The flow: entries → batches → parts, made on this thread or by others. Each stage pulls the one before. Yields each part
 * when its files are whole.
 */
export async function* makeParts(given: PartsRequest, context: PartsContext): AsyncGenerator<MadePart, void, void> {
  if (given.local !== undefined) {
    yield* makeLocalParts(given, given.local, context);
    return;
  }
  const { parts } = given;
  // Threads are told what to do, and know no dialects.
  const job = { ...given.job, service: { ...given.job.service, singles: asksAlone(given.job) } };
  const request = { ...given, job };
  const { journal, calls, credits } = parts;
  // The first failure ends what waits; exchanges in flight go on and are journaled: they are paid for.
  const halt = new LinkedAbort(context.stop);
  const stop = halt.signal;
  const created = clientOf(job, context, {
    missingShare: request.missingShare,
    learnedCalls: request.learnedCalls,
    // A night, and an export that has parts already, were answered before.
    allowNone: job.tolerance.allowNone || request.missingShare !== undefined || !parts.isNeeded(0),
    sizes: sizeBounds(job, [request.initialCap, await context.pace?.idsPerCall()]),
    journal,
    onCall: async () => {
      if (parts.mayCall !== undefined) await untilAborted(parts.mayCall(), context.stop);
      await Promise.all([calls.add(1), credits.add(job.budget.creditsPerCall)]);
    },
    onFree: async ({ sent }) => {
      await Promise.all([calls.add(sent ? 0 : -1), credits.add(-job.budget.creditsPerCall)]);
    },
    stop,
  });
  const making: Making = {
    request,
    context,
    created,
    stop,
    halt: (reason) => {
      halt.abort(reason);
    },
  };
  try {
    for await (const part of partsFrom(
      batchesOf(allBatches(request), (part) => parts.isNeeded(part)),
      making,
    )) {
      const cap = created.cap();
      yield { part, cap: Number.isFinite(cap) ? cap : undefined };
    }
    created.throwIfFailed();
    for (const message of aboutAbsence(created.absence.weighed)) context.listener({ kind: 'warning', message });
  } finally {
    await created.close().finally(() => {
      halt.unlink();
    });
  }
}

/** What a reader should know of ids that answers lacked. */
function aboutAbsence({ found, unasked }: CreatedClient['absence']['weighed']): string[] {
  return [
    ...(found === 0
      ? []
      : [
          `${plural(found, 'id')} that an answer lacked came in another one: the service's answers are not always whole`,
        ]),
    ...(unasked.ids === 0
      ? []
      : [
          `${plural(unasked.ids, 'id')} of ${plural(unasked.calls, 'call')} were missing in one answer, and budget.overrun left no room to request them again`,
        ]),
  ];
}

/** Parts of which all answers are known: nothing is sent, counted or kept. */
interface LocalPartsRequest extends Pick<PartsRequest, 'job' | 'sources' | 'begun'> {
  readonly parts: Pick<PartsToMake, 'scratch' | 'firstPart' | 'isNeeded' | 'entries' | 'isLast'>;
}

const nothing = (): Promise<undefined> => Promise.resolve(undefined);
const noJournal = { find: nothing, append: nothing, closePart: nothing };

/** The flow for answers that lie on this disk. */
async function* makeLocalParts(
  request: LocalPartsRequest,
  { client, originsOf, tail }: LocalAnswers,
  context: Pick<PartsContext, 'clock' | 'files' | 'stop' | 'listener'>,
): AsyncGenerator<MadePart, void, void> {
  const { job, parts } = request;
  const { scratch, firstPart, isNeeded } = parts;
  const batches = async function* (): AsyncGenerator<Batch, void, void> {
    for await (const batch of batchesOf(withLast(allBatches(request), parts), isNeeded)) {
      context.stop.throwIfAborted();
      yield batch;
    }
  };
  // What was looked up alone was so when it was requested.
  const local = { ...job, service: { ...job.service, singles: false } };
  const made = partsOf(batches(), {
    ...request,
    job: local,
    scratch,
    files: context.files,
    clock: context.clock,
    client,
    originsOf,
    tail,
    mostBytes,
    journal: noJournal,
    firstPart: isNeeded(firstPart) ? firstPart : firstPart + 1,
    concurrency: 1,
    onHolding: (holding) => {
      context.listener({ kind: 'holding', thread: 0, ...holding });
    },
    onSettled: (counts) => {
      context.listener({ kind: 'settled', counts });
    },
    halt: () => undefined,
  });
  for await (const part of made) yield { part, cap: undefined };
}

/** Tells of the last batch of an export that it is, before batches are left out. */
async function* withLast(
  batches: AsyncIterable<Batch>,
  { isLast = () => true }: Pick<PartsToMake, 'isLast'>,
): AsyncGenerator<Batch, void, void> {
  let waiting: Batch | undefined;
  for await (const batch of batches) {
    if (waiting !== undefined) yield waiting;
    waiting = batch;
  }
  if (waiting !== undefined) yield { ...waiting, isLast: isLast() };
}

interface Making {
  readonly request: PartsRequest;
  readonly context: PartsContext;
  readonly created: CreatedClient;
  readonly stop: AbortSignal;
  readonly halt: (reason: unknown) => void;
}

function allBatches({ job, parts }: Pick<LocalPartsRequest, 'job' | 'parts'>): AsyncGenerator<Batch, void, void> {
  return batchIds(parts.entries(), { ...batchShape(job), firstPart: parts.firstPart });
}

/** Parts made by threads, where there is more than one group of them and more than one thread. */
async function* partsFrom(batches: AsyncIterable<Batch>, making: Making): AsyncGenerator<FinishedPart, void, void> {
  const { request, context } = making;
  const most = threadsFor(request.job, context);
  if (most === 1 || context.threads === undefined) {
    yield* partsMadeHere(batches, making);
    return;
  }
  const { partsInThreads } = await import('./threads/parts-in-threads.ts');
  yield* partsInThreads(batches, (few) => partsMadeHere(few, making), crewRequest(making, context.threads, most));
}

function partsMadeHere(batches: AsyncIterable<Batch>, { request, context, created, halt }: Making) {
  const { scratch, journal, firstPart, isNeeded } = request.parts;
  return partsOf(batches, {
    ...request,
    scratch,
    journal,
    files: context.files,
    clock: context.clock,
    client: created.client,
    absence: created.absence,
    halt,
    mostBytes,
    firstPart: isNeeded(firstPart) ? firstPart : firstPart + 1,
    concurrency: mostAtOnce(request.job.service.concurrency),
    onHolding: (holding) => {
      context.listener({ kind: 'holding', thread: 0, ...holding });
    },
    onSettled: (counts) => {
      context.listener({ kind: 'settled', counts });
    },
  });
}

/** What threads are told. */
function crewRequest(
  { request, context, created, stop, halt }: Making,
  { start }: NonNullable<PartsContext['threads']>,
  most: number,
): Omit<CrewRequest, 'groups'> {
  const { job, begun, sources, parts } = request;
  const { service, proxy } = context;
  return {
    client: created,
    most,
    start,
    context,
    stop,
    halt,
    settings: {
      job,
      service,
      proxy,
      begun,
      sources,
      scratch: parts.scratch,
      mostBytes: mostBytes / most,
      concurrency: Math.ceil(mostAtOnce(job.service.concurrency) / most),
    },
  };
}

/** Parts that are made out of order wait with their ids in memory: so many entries, and no more. */
const mostEntriesInThreads = 1_000_000;

/** A thread without a call of its own would do nothing. */
function threadsFor({ service, output }: Job, { threads }: PartsContext): number {
  const most = Math.min(threads?.most ?? 1, mostAtOnce(service.concurrency));
  return Math.max(1, Math.min(most, Math.floor(mostEntriesInThreads / output.rowsPerPart)));
}
