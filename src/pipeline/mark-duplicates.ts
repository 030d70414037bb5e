import type { HashSet128 } from '../lib/hash-set-128.ts';
import type { IdEntry } from './id-entry.ts';

/** Marks every sighting of a valid id but the first, over all inputs. Blocks and their order stay as they are. */
export async function* markDuplicates(blocks: AsyncIterable<IdEntry[]>, seen: HashSet128): AsyncGenerator<IdEntry[]> {
  for await (const block of blocks) {
    const valid = block.filter((entry) => entry.sighting === 'valid');
    const isNew = seen.addAll(valid.map((entry) => entry.text));
    for (const [index, entry] of valid.entries()) if (isNew[index] === 0) entry.sighting = 'duplicate';
    yield block;
  }
}
