import { batchesOf, batchIds } from '../ids/batch-ids.ts';
import type { Entries } from '../ids/entries.ts';
import type { Job } from '../job/job-schema.ts';
import type { Commit } from '../store/export-facts.ts';
import type { KeptAnswers } from '../store/journal/journal-entries.ts';
import { countCalls } from '../work/count-calls.ts';

export interface CallsLeft {
  readonly calls: number;
  /** Ids of parts that are not made yet. */
  readonly ids: number;
}

interface Standing {
  readonly isComplete: boolean;
  readonly commits: readonly Commit[];
  readonly kept: KeptAnswers;
}

/** What an export still needs from where it stands. Reads all entries. */
export async function callsLeft(
  entries: AsyncIterable<Entries>,
  { service, output }: Pick<Job, 'service' | 'output'>,
  { isComplete, commits, kept }: Standing,
): Promise<CallsLeft> {
  const done = new Set(commits.map(({ part }) => part));
  const shape = { idsPerCall: service.idsPerCall, rowsPerPart: output.rowsPerPart };
  const counter = countCalls({ kept, flags: service.flags, initialCap: commits.at(-1)?.cap });
  let ids = 0;
  for await (const batch of batchesOf(batchIds(entries, shape), (part) => !isComplete && !done.has(part))) {
    await counter.add(batch);
    ids += batch.ids.length;
    batch.entries.release();
  }
  return { calls: counter.calls(), ids };
}
