import type { EntryBlock } from './entries.ts';
import type { RunListener } from './run-events.ts';

/** How much of the inputs a run has read. */
export interface ReadProgress {
  entries: number;
  /** As they lie on disk. */
  inputBytes: number;
}

/** Counts entries as they pass. */
export async function* countEntries(
  blocks: AsyncIterable<EntryBlock>,
  progress: ReadProgress,
  listener: RunListener,
): AsyncGenerator<EntryBlock, void, void> {
  for await (const block of blocks) {
    progress.entries += block.entries.length;
    listener({ kind: 'read', ...progress });
    yield block;
  }
}
