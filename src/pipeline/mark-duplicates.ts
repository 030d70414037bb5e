import type { HashSet128 } from '../lib/hash-set-128.ts';
import type { IdEntry } from './id-entry.ts';

/** Marks every sighting of a valid id but the first, over all inputs. Blocks and their order stay as they are. */
export async function* markDuplicates(blocks: AsyncIterable<IdEntry[]>, seen: HashSet128): AsyncGenerator<IdEntry[]> {
  for await (const block of blocks) {
    for (const entry of block) {
      if (entry.sighting === 'valid' && !seen.add(entry.text)) entry.sighting = 'duplicate';
    }
    yield block;
  }
}
