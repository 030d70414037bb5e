import type { Entries, EntryBlock } from '../ids/entries.ts';
import { markDuplicates, type PreparedInputs } from '../ids/prepare-inputs.ts';
import { readIds } from '../ids/read/read-ids.ts';
import { type InvalidSample, sampling } from '../ids/read/list-form.ts';
import type { Job } from '../job/job-schema.ts';
import { HashSet128 } from '../../lib/hash/hash-set-128.ts';
import type { RunListener } from './run-events.ts';

/** How much of the inputs a run has read. */
export interface ReadProgress {
  entries: number;
  /** By the index of the input. */
  readonly entriesOf: number[];
  /** Of these entries, as they lie on disk. */
  inputBytes: number;
  /** The first entries that are not ids. */
  readonly invalid: InvalidSample[];
}

export function newReadProgress(): ReadProgress {
  return { entries: 0, entriesOf: [], inputBytes: 0, invalid: [] };
}

/** All ids of the inputs in their order, with duplicates marked. Reports progress. */
export function readJobIds(
  job: Pick<Job, 'ids'>,
  prepared: PreparedInputs,
  progress: ReadProgress,
  listener: RunListener,
): AsyncIterable<Entries> {
  return markDuplicates(countedIds(job, prepared, progress, listener), new HashSet128());
}

/** The same before duplicates are marked. */
export function countedIds(
  { ids }: Pick<Job, 'ids'>,
  { inputs, fingerprints, kept }: PreparedInputs,
  progress: ReadProgress,
  listener: RunListener,
): AsyncIterable<EntryBlock> {
  const read =
    kept?.() ??
    readIds(inputs, {
      ...ids,
      expected: fingerprints,
      onBytes: (bytes) => (progress.inputBytes += bytes),
      onInvalid: sampling(progress.invalid),
    });
  return countEntries(read, progress, listener);
}

async function* countEntries(
  blocks: AsyncIterable<EntryBlock>,
  progress: ReadProgress,
  listener: RunListener,
): AsyncGenerator<EntryBlock, void, void> {
  const tell = (): void => {
    listener({ kind: 'read', entries: progress.entries, inputBytes: progress.inputBytes });
  };
  for await (const block of blocks) {
    progress.entries += block.entries.length;
    countBySource(block.entries, progress.entriesOf);
    tell();
    yield block;
  }
  // Bytes may follow the last entry.
  tell();
}

/** Most blocks hold entries of one input alone. */
function countBySource(entries: Entries, entriesOf: number[]): void {
  const { length } = entries;
  const first = length === 0 ? 0 : entries.source(0);
  if (length === 0 || first === entries.source(length - 1)) entriesOf[first] = (entriesOf[first] ?? 0) + length;
  else
    for (let index = 0; index < length; index += 1) {
      const source = entries.source(index);
      entriesOf[source] = (entriesOf[source] ?? 0) + 1;
    }
}
