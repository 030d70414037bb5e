import { HashSet128 } from '../../../lib/hash/hash-set-128.ts';
import type { FileStore } from '../../../places/files/file-store.ts';
import type { Entries, EntryBlock } from '../entries.ts';
import { SpilledHashes } from './spilled-hashes.ts';

export interface DuplicateLimits {
  readonly files: FileStore;
  /** Made where hashes leave memory, and removed. */
  readonly folder: string;
  /** The table of hashes takes a little more at most: 22 bytes an id. */
  readonly mostBytes: number;
  readonly stop: AbortSignal;
  /** Told when hashes go to the disk, and when all of them are there. */
  readonly onSpill?: (step: 'begun' | 'read') => void;
}

/**
 * Marks every occurrence of a valid id except the first, over all inputs, in bounded memory. Exact either way: where the table of
 * hashes would grow too large, all hashes go to the disk, and the ids are read a second time.
 * @param read reads all ids from the beginning: the same blocks each time
 */
export async function* markWithinMemory(
  read: () => AsyncIterable<EntryBlock>,
  limits: DuplicateLimits,
): AsyncGenerator<Entries, void, void> {
  const blocks = read()[Symbol.asyncIterator]();
  let spilled: SpilledHashes | undefined;
  try {
    const marked = yield* markInMemory(blocks, limits.mostBytes);
    if (marked === undefined) return;
    limits.onSpill?.('begun');
    spilled = await SpilledHashes.create(limits.files, limits.folder);
    // They are all different: which entries they were of does not matter.
    for (const hashes of marked.seen.take()) await spilled.add(hashes, () => 0);
    await spillRest(blocks, marked.entries, { spilled, stop: limits.stop });
    limits.onSpill?.('read');
    yield* markAgain(read(), marked.entries, { spilled, stop: limits.stop });
  } finally {
    await blocks.return?.();
    await spilled?.close();
  }
}

/** Hands its table on: whoever has read it leaves it to the garbage collector. */
class Seen {
  #hashes: HashSet128 | undefined = new HashSet128();

  add(hashes: Uint32Array): Uint8Array {
    return this.#hashes?.addAll(hashes) ?? new Uint8Array(0);
  }

  get bytes(): number {
    return this.#hashes?.bytes ?? 0;
  }

  take(): Iterable<Uint32Array> {
    const hashes = this.#hashes?.hashes() ?? [];
    this.#hashes = undefined;
    return hashes;
  }
}

type Blocks = AsyncIterator<EntryBlock>;

/** Marks while memory lasts. Returns how many entries are marked; undefined when all are. */
async function* markInMemory(
  blocks: Blocks,
  mostBytes: number,
): AsyncGenerator<Entries, { entries: number; seen: Seen } | undefined, void> {
  const seen = new Seen();
  let entries = 0;
  for (;;) {
    const next = await blocks.next();
    if (next.done === true) return undefined;
    const block = next.value;
    const isNew = seen.add(block.hashes);
    markEach(block.entries, (place) => isNew[place] === 0);
    entries += block.entries.length;
    yield block.entries;
    if (seen.bytes > mostBytes) return { entries, seen };
  }
}

interface Spilling {
  readonly spilled: SpilledHashes;
  readonly stop: AbortSignal;
}

async function spillRest(blocks: Blocks, marked: number, { spilled, stop }: Spilling): Promise<void> {
  let first = marked;
  const numbers: number[] = [];
  for (;;) {
    stop.throwIfAborted();
    const next = await blocks.next();
    if (next.done === true) return;
    const { entries, hashes } = next.value;
    numbers.length = 0;
    for (let index = 0; index < entries.length; index += 1) if (entries.isValid(index)) numbers.push(first + index);
    await spilled.add(hashes, (place) => numbers[place] ?? 0);
    first += entries.length;
  }
}

async function* markAgain(
  blocks: AsyncIterable<EntryBlock>,
  marked: number,
  { spilled, stop }: Spilling,
): AsyncGenerator<Entries, void, void> {
  const repeated = await spilled.repeated(stop);
  let first = 0;
  for await (const { entries } of blocks) {
    const end = first + entries.length;
    if (first >= marked) {
      const isRepeated = await repeated.load(first, end);
      for (let index = 0; index < entries.length; index += 1)
        if (entries.isValid(index) && isRepeated(first + index)) entries.markDuplicate(index);
      yield entries;
    }
    first = end;
  }
}

/** @param isRepeated of a valid entry, by its place among them */
function markEach(entries: Entries, isRepeated: (place: number) => boolean): void {
  let place = 0;
  for (let index = 0; index < entries.length; index += 1) {
    if (!entries.isValid(index)) continue;
    if (isRepeated(place)) entries.markDuplicate(index);
    place += 1;
  }
}
