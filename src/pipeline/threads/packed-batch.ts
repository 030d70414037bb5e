import { type Batch, noIds } from '../batch-ids.ts';
import { Entries, type EntryColumns } from '../entries.ts';

/** A batch as few pieces of plain data: a stretch of 100,000 entries crosses to a thread in milliseconds. */
export interface PackedBatch extends Pick<Batch, 'first' | 'start' | 'end' | 'part'> {
  readonly columns: EntryColumns;
  /** Whether its ids are to be asked for. */
  readonly asks: boolean;
  /** Whether another stretch needs its answer too. */
  readonly isShared: boolean;
}

/** Of a batch that is cut, no other entries than its own are packed, unless the ids of both sides make one call. */
export function packBatch({ first, start, end, part, entries, ids }: Batch, isShared = false): PackedBatch {
  const asks = ids.length > 0;
  if (isShared) return { first, start, end, part, columns: entries.columns(0, entries.length), asks, isShared };
  return {
    first: first + start,
    start: 0,
    end: end - start,
    part,
    columns: entries.columns(start, end),
    asks,
    isShared,
  };
}

export function unpackBatch({ first, start, end, part, columns, asks }: PackedBatch): Batch {
  const entries = Entries.of(columns);
  return { first, start, end, part, entries, ids: asks ? entries.ids() : noIds };
}
