import type { HashSet128 } from '../lib/hash-set-128.ts';
import type { EntryBlock, IdEntry } from './id-entry.ts';

/** From so many ids on, the rest of the inputs is expected to be like what was read. */
const leastIds = 50_000;

/**
 * Marks every sighting of a valid id but the first, over all inputs. Blocks and their order stay as they are.
 * @param shareRead how much of the inputs has been read, up to 1: it tells how many ids are to come
 */
export async function* markDuplicates(
  blocks: AsyncIterable<EntryBlock>,
  seen: HashSet128,
  shareRead = () => 1,
): AsyncGenerator<IdEntry[], void, void> {
  for await (const { entries, hashes } of blocks) {
    const isNew = seen.addAll(hashes);
    const share = shareRead();
    if (seen.size >= leastIds && share > 0) seen.expect(seen.size / share);
    let index = 0;
    for (const entry of entries) {
      if (entry.sighting !== 'valid') continue;
      if (isNew[index] === 0) entry.sighting = 'duplicate';
      index += 1;
    }
    yield entries;
  }
}
