import type { Batch } from '../../ids/batch-ids.ts';
import { Entries, type EntryColumns } from '../../ids/entries.ts';

/** A batch as few pieces of plain data: 100,000 entries cross to a thread in milliseconds. */
export interface PackedBatch extends Pick<Batch, 'part' | 'endsPart'> {
  readonly columns: EntryColumns;
}

export function packBatch({ part, endsPart, entries }: Batch): PackedBatch {
  return { part, endsPart, columns: entries.columns(0, entries.length) };
}

export function unpackBatch({ part, endsPart, columns }: PackedBatch): Batch {
  const entries = Entries.of(columns);
  return { part, endsPart, entries, ids: entries.ids() };
}

/** Consecutive whole parts with their batches: what a thread takes at a time. */
export interface PartGroup {
  readonly parts: readonly number[];
  readonly batches: readonly PackedBatch[];
}

/** So many calls, or entries where few are requested, are worth a thread's turn, however small parts are. */
const callsOfGroup = 16;
const entriesOfGroup = 100_000;

/** Groups the batches of small parts, so that each group is worth a message. */
export async function* groupParts(batches: AsyncIterable<Batch>): AsyncGenerator<PartGroup, void, void> {
  let packed: PackedBatch[] = [];
  let entries = 0;
  const group = (): PartGroup => ({ parts: [...new Set(packed.map(({ part }) => part))], batches: packed });
  for await (const batch of batches) {
    packed.push(packBatch(batch));
    entries += batch.entries.length;
    batch.entries.release();
    if (!batch.endsPart || (packed.length < callsOfGroup && entries < entriesOfGroup)) continue;
    yield group();
    packed = [];
    entries = 0;
  }
  if (packed.length > 0) yield group();
}

/**
 * Reads up to `count` items ahead.
 * @returns all: yields the whole stream, first items included, and may be iterated once
 */
export async function peek<T>(
  source: AsyncIterable<T>,
  count: number,
): Promise<{ readonly first: readonly T[]; readonly all: AsyncGenerator<T, void, void> }> {
  const iterator = source[Symbol.asyncIterator]();
  const first: T[] = [];
  while (first.length < count) {
    const next = await iterator.next();
    if (next.done === true) break;
    first.push(next.value);
  }
  async function* all(): AsyncGenerator<T, void, void> {
    try {
      yield* first;
      for (;;) {
        const next = await iterator.next();
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return { first, all: all() };
}
