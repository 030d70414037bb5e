import type { HashSet128 } from '../lib/hash-set-128.ts';
import type { EntryBlock, IdEntry } from './id-entry.ts';

/** From this share of the inputs on, the rest is expected to be like it. */
const leastShare = 1 / 32;

/**
 * Marks every sighting of a valid id but the first, over all inputs. Blocks and their order stay as they are.
 * @param share how much of the inputs has been read, 0 to 1: it tells how many ids are to come.
 */
export async function* markDuplicates(
  blocks: AsyncIterable<EntryBlock>,
  seen: HashSet128,
  share: () => number,
): AsyncGenerator<IdEntry[], void, void> {
  for await (const { entries, hashes } of blocks) {
    const read = share();
    if (read >= leastShare) seen.expect(seen.size / read);
    const isNew = seen.addAll(hashes);
    let index = 0;
    for (const entry of entries) {
      if (entry.sighting !== 'valid') continue;
      if (isNew[index] === 0) entry.sighting = 'duplicate';
      index += 1;
    }
    yield entries;
  }
}
