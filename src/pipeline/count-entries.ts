import type { IdEntry } from './id-entry.ts';
import type { RunListener } from './run-events.ts';

/** How much of the inputs a run has read. */
export interface ReadProgress {
  entries: number;
  /** As they lie on disk. */
  inputBytes: number;
}

/** Counts entries as they pass. */
export async function* countEntries(
  blocks: AsyncIterable<IdEntry[]>,
  progress: ReadProgress,
  listener: RunListener,
): AsyncGenerator<IdEntry[], void, void> {
  for await (const block of blocks) {
    progress.entries += block.length;
    listener({ kind: 'read', ...progress });
    yield block;
  }
}
