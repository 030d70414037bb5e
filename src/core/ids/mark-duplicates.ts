import { HashSet128 } from '../../lib/hash/hash-set-128.ts';
import type { Entries, EntryBlock } from './entries.ts';
import type { Job } from '../job/job-schema.ts';
import type { PreparedInputs } from './prepare-inputs.ts';
import { readIds, type ReadIdsOptions } from './read/read-ids.ts';

/** Marks every occurrence of a valid id except the first, over all inputs. Blocks and their order stay as they are. */
export async function* markDuplicates(
  blocks: AsyncIterable<EntryBlock>,
  seen: Pick<HashSet128, 'addAll'>,
): AsyncGenerator<Entries, void, void> {
  for await (const { entries, hashes } of blocks) {
    const isNew = seen.addAll(hashes);
    let hash = 0;
    for (let index = 0; index < entries.length; index += 1) {
      if (!entries.isValid(index)) continue;
      if (isNew[hash] === 0) entries.markDuplicate(index);
      hash += 1;
    }
    yield entries;
  }
}

/** All ids of a job in the order of the inputs, with duplicates marked. Reports no progress. */
export function entriesOf(
  { ids }: Pick<Job, 'ids'>,
  { inputs, fingerprints, kept }: PreparedInputs,
  {
    onInvalid,
    seen = new HashSet128(),
  }: {
    readonly onInvalid?: ReadIdsOptions['onInvalid'];
    /** Finds repeated ids. */
    readonly seen?: Pick<HashSet128, 'addAll'>;
  } = {},
): AsyncIterable<Entries> {
  const read = kept?.() ?? readIds(inputs, { ...ids, expected: fingerprints, onInvalid });
  return markDuplicates(read, seen);
}
