import type { HashSet128 } from '../lib/hash-set-128.ts';
import type { Entries, EntryBlock } from './entries.ts';
import type { IdForecast } from './id-forecast.ts';

/**
 * Marks every sighting of a valid id but the first, over all inputs. Blocks and their order stay as they are.
 * @param forecast tells the set how many ids are to come
 */
export async function* markDuplicates(
  blocks: AsyncIterable<EntryBlock>,
  seen: HashSet128,
  forecast?: IdForecast,
): AsyncGenerator<Entries, void, void> {
  for await (const { entries, hashes } of blocks) {
    const isNew = seen.addAll(hashes);
    if (forecast !== undefined && entries.length > 0) seen.expect(forecast.total(entries.source(0), seen.size));
    let hash = 0;
    for (let index = 0; index < entries.length; index += 1) {
      if (!entries.isValid(index)) continue;
      if (isNew[hash] === 0) entries.markDuplicate(index);
      hash += 1;
    }
    yield entries;
  }
}
