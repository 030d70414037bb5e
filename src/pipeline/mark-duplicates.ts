import type { HashSet128 } from '../lib/hash-set-128.ts';
import type { EntryBlock, IdEntry } from './id-entry.ts';
import type { IdForecast } from './id-forecast.ts';

/**
 * Marks every sighting of a valid id but the first, over all inputs. Blocks and their order stay as they are.
 * @param forecast tells the set how many ids are to come
 */
export async function* markDuplicates(
  blocks: AsyncIterable<EntryBlock>,
  seen: HashSet128,
  forecast?: IdForecast,
): AsyncGenerator<IdEntry[], void, void> {
  for await (const { entries, hashes } of blocks) {
    const isNew = seen.addAll(hashes);
    const source = entries[0]?.source;
    if (forecast !== undefined && source !== undefined) seen.expect(forecast.total(source, seen.size));
    let index = 0;
    for (const entry of entries) {
      if (entry.sighting !== 'valid') continue;
      if (isNew[index] === 0) entry.sighting = 'duplicate';
      index += 1;
    }
    yield entries;
  }
}
