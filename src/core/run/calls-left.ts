import { mostIdsPerCall, plannedSize } from '../job/job-dialect.ts';
import { usualAtOnce } from '../client/judgement/call-limit.ts';
import { leastForAll } from '../client/policies/shared-pace.ts';
import { type AssetClient, noRecords } from '../client/asset-client.ts';
import { type Batch, batchesOf, batchIds, batchShape } from '../ids/batch-ids.ts';
import type { Entries } from '../ids/entries.ts';
import { entriesOf, type PreparedInputs } from '../ids/prepare-inputs.ts';
import type { Job } from '../job/job-schema.ts';
import type { Commit } from '../../places/export/export-facts.ts';
import type { OpenExport } from './homes/export-home.ts';
import type { KeptAnswers } from '../../places/scratch/journal.ts';
import { nextUtcMidnight } from '../../lib/clock.ts';

export interface PartsLeft {
  readonly isNeeded: (part: number) => boolean;
  /** None by default. */
  readonly kept?: KeptAnswers | undefined;
  /** Most ids a call that an earlier run found out; absent: not known. */
  readonly initialCap?: number | undefined;
  /** Counting ends when so many calls are planned; all are counted unless given. */
  readonly enough?: number | undefined;
}

/** What is left of an export with these commits. */
export function partsAfter(commits: readonly Commit[]): PartsLeft {
  const done = new Set(commits.map(({ part }) => part));
  return { isNeeded: (part) => !done.has(part), initialCap: commits.at(-1)?.cap };
}

/**
 * The calls that some parts need. Reads all entries, and sends nothing. Where answers are kept or calls are larger than the service
 * is known to take, it goes the way of a real run, halving included; all other calls are counted as if they went well.
 */
export async function callsLeft(
  entries: AsyncIterable<Entries>,
  { service, output }: Pick<Job, 'service' | 'output'>,
  { isNeeded, kept, initialCap: learned, enough = Infinity }: PartsLeft,
): Promise<{
  /** In calls of what the service is known to take. */
  readonly calls: number;
  /** In calls of the planned size: those that `budget.overrun` is added to. */
  readonly planned: number;
  /** Ids of parts that are not made yet. */
  readonly ids: number;
}> {
  const initialCap = mostIdsPerCall({ service }, [learned]) ?? Infinity;
  const size = plannedSize({ service });
  const answers = kept === undefined || kept.size() === 0 ? undefined : kept;
  let way: ReturnType<typeof realWay> | undefined;
  let calls = 0;
  let planned = 0;
  let ids = 0;
  for await (const batch of batchesOf(batchIds(entries, batchShape({ service, output })), isNeeded)) {
    const { length } = batch.ids;
    ids += length;
    let needed = Math.min(length, 1);
    if (answers !== undefined || length > initialCap) {
      way ??= realWay(answers, service.flags, initialCap);
      needed = await (await way)(batch);
    }
    calls += needed;
    planned += Math.min(needed, Math.ceil(length / size));
    batch.entries.release();
    if (planned >= enough) break;
  }
  // A run tries the planned size once more.
  const trials = calls > 0 && learned !== undefined && learned < size ? 1 : 0;
  return { calls: calls + trials, planned, ids };
}

/** The planned calls of ids that no part and no kept answer settles, as many as `budget.overrun` depends on. */
export async function plannedLeft(
  job: Job,
  prepared: PreparedInputs,
  { commits, answers }: Pick<OpenExport, 'commits' | 'answers'>,
  readAnswers: () => Promise<KeptAnswers | undefined>,
): Promise<number> {
  const kept = answers === 0 ? undefined : await readAnswers();
  const left = { ...partsAfter(commits()), initialCap: undefined, kept, enough: leastForAll };
  return (await callsLeft(entriesOf(job, prepared), job, left)).planned;
}

/** Takes batches through what a real run does with them, and counts what would leave. */
async function realWay(
  kept: KeptAnswers | undefined,
  flags: Job['service']['flags'],
  initialCap: number,
): Promise<(batch: Batch) => Promise<number>> {
  const { lookUpBatch } = await import('../client/look-up-batch.ts');
  const { withJournal } = await import('../client/policies/with-journal.ts');
  let calls = 0;
  let most = initialCap;
  const counting: AssetClient = {
    ask: ({ ids }) => {
      if (ids.length > most)
        return Promise.resolve({ kind: 'refused', why: 'size', message: '', doubtful: false, unsent: true, most });
      calls += 1;
      return Promise.resolve(noRecords);
    },
  };
  // To look for an answer means to hash its call, and there may be many.
  const client =
    kept === undefined
      ? counting
      : withJournal(counting, {
          journal: { find: (key) => kept.find(key), append: () => Promise.resolve() },
          onHint: (hint) => {
            if ('most' in hint) most = Math.min(most, hint.most);
          },
        });
  return async ({ ids, part }) => {
    const before = calls;
    if (ids.length > 0) await lookUpBatch(client, { ids, part, flags, singles: false, reader: undefined });
    return calls - before;
  };
}

/** How long the calls of an export take under its budget. */
export interface Forecast {
  /** UTC days on which calls are sent or waited for, from today on; `never` when a day takes no call; null without `creditsPerDay`. */
  readonly days: number | 'never' | null;
  /** Seconds at `creditsPerSecond`; null without it. */
  readonly seconds: number | null;
  /** Credits of today that are left, after what all programs with this key have booked; null without `creditsPerDay`. */
  readonly leftToday: number | null;
  /** When the last answer is there, if it begins now, ISO 8601 in UTC; null when there is nothing to send, or `never`. */
  readonly completesAt: string | null;
}

export interface ForecastFacts {
  readonly calls: number;
  readonly job: Pick<Job, 'budget' | 'service'>;
  /** Credits that are booked today. */
  readonly booked: number;
  readonly nowMs: number;
}

/** How long a call is assumed to take, in milliseconds. */
const assumedCallMs = 1000;

export function forecast(facts: ForecastFacts): Forecast {
  const { calls, job, booked } = facts;
  const { creditsPerCall, creditsPerDay, creditsPerSecond } = job.budget;
  const callsFor = (credits: number | undefined): number =>
    credits === undefined || creditsPerCall === 0 ? Number.POSITIVE_INFINITY : Math.floor(credits / creditsPerCall);
  const leftToday = creditsPerDay === undefined ? null : Math.max(0, creditsPerDay - booked);
  const perDay = callsFor(creditsPerDay);
  const today = callsFor(leftToday ?? undefined);
  const isNever = calls > 0 && perDay === 0;
  const days = calls === 0 ? 0 : calls <= today ? 1 : 1 + Math.ceil((calls - today) / perDay);
  const endMs = isNever || calls === 0 ? undefined : completion(facts, today, perDay);
  return {
    days: creditsPerDay === undefined ? null : isNever ? 'never' : days,
    seconds: creditsPerSecond === undefined ? null : (calls * creditsPerCall) / creditsPerSecond,
    leftToday,
    completesAt: endMs === undefined ? null : new Date(endMs).toISOString(),
  };
}

/** When the last call is answered, if so many may leave today and on each day after it. */
function completion({ calls, job, nowMs }: ForecastFacts, today: number, perDay: number): number {
  const { creditsPerCall, creditsPerSecond } = job.budget;
  const paceMs = creditsPerSecond === undefined ? 0 : (creditsPerCall / creditsPerSecond) * 1000;
  const callMs = Math.max(paceMs, assumedCallMs / usualAtOnce(job.service.concurrency));
  let atMs = nowMs;
  let left = calls;
  for (let allowed = today; ; allowed = perDay) {
    const midnightMs = nextUtcMidnight(atMs);
    const inTime = perDay === Number.POSITIVE_INFINITY ? left : Math.ceil((midnightMs - atMs) / callMs);
    const sent = Math.min(left, allowed, inTime);
    left -= sent;
    if (left === 0) return atMs + sent * callMs;
    atMs = midnightMs;
  }
}
