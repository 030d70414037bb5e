import { wordsPerHash } from '../../../lib/hash/hash-set-128.ts';
import { Entries, type EntryBlock } from '../entries.ts';

/** What nobody is told of a reading that only counts. */
type Untold = Partial<Record<'onBytes' | 'onFingerprint' | 'onInvalid', undefined>>;

/** Which word of the hash of an id decides: it is the same whatever stands before it, and on every day. */
const decidingWord = 3;

/**
 * The entries of a sample in their order: the ids whose hash is below a bound, and so also each repeat of them.
 * @param sample `1%`, or a count, for which all ids are read once more
 * @param read reads all entries; options that are undefined have nobody told
 */
export async function* drawnOf(
  sample: string,
  read: (options: Untold) => AsyncIterable<EntryBlock>,
): AsyncGenerator<EntryBlock, void, void> {
  const bound =
    2 ** 32 * (sample.endsWith('%') ? Number.parseFloat(sample) / 100 : Number(sample) / (await idsOf(read)));
  for await (const { entries, hashes } of read({})) {
    const drawn = Entries.take(entries.length);
    const kept: number[] = [];
    let hash = 0;
    for (let index = 0; index < entries.length; index += 1) {
      if (!entries.isValid(index)) continue;
      if ((hashes[hash + decidingWord] ?? 0) < bound) {
        drawn.append(entries, index, index + 1);
        kept.push(...hashes.subarray(hash, hash + wordsPerHash));
      }
      hash += wordsPerHash;
    }
    yield { entries: drawn, hashes: Uint32Array.from(kept) };
  }
}

/** How many entries are ids, at least 1. */
async function idsOf(read: (options: Untold) => AsyncIterable<EntryBlock>): Promise<number> {
  let ids = 0;
  const untold = { onBytes: undefined, onFingerprint: undefined, onInvalid: undefined };
  for await (const { hashes } of read(untold)) ids += hashes.length / wordsPerHash;
  return Math.max(1, ids);
}
