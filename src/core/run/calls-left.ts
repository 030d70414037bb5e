import { mostIdsPerCall } from '../job/job-dialect.ts';
import { batchesOf, batchIds, batchShape } from '../ids/batch-ids.ts';
import type { Entries } from '../ids/entries.ts';
import type { Job } from '../job/job-schema.ts';
import type { Commit } from '../../places/export/export-facts.ts';
import type { KeptAnswers } from '../../places/scratch/journal-entries.ts';
import { countCalls } from '../work/count-calls.ts';

export interface CallsLeft {
  readonly calls: number;
  /** Ids of parts that are not made yet. */
  readonly ids: number;
}

export interface PartsLeft {
  readonly isNeeded: (part: number) => boolean;
  /** None by default. */
  readonly kept?: KeptAnswers | undefined;
  /** Most ids a call that an earlier run found out; absent: not known. */
  readonly initialCap?: number | undefined;
}

/** What is left of an export with these commits. */
export function partsAfter(commits: readonly Commit[]): PartsLeft {
  const done = new Set(commits.map(({ part }) => part));
  return { isNeeded: (part) => !done.has(part), initialCap: commits.at(-1)?.cap };
}

const noAnswers: KeptAnswers = { find: () => Promise.resolve(undefined), size: () => 0 };

/** The calls that some parts need. Reads all entries. */
export async function callsLeft(
  entries: AsyncIterable<Entries>,
  job: Pick<Job, 'service' | 'output'>,
  { isNeeded, kept = noAnswers, initialCap }: PartsLeft,
): Promise<CallsLeft> {
  const counter = countCalls({ kept, flags: job.service.flags, initialCap: mostIdsPerCall(job, [initialCap]) });
  let ids = 0;
  for await (const batch of batchesOf(batchIds(entries, batchShape(job)), isNeeded)) {
    await counter.add(batch);
    ids += batch.ids.length;
    batch.entries.release();
  }
  return { calls: counter.calls(), ids };
}
