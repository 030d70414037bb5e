import { type Batch, noIds } from '../batch-ids.ts';
import type { Need } from '../needed-batches.ts';
import { packBatch, type PackedBatch } from './packed-batch.ts';

/** Consecutive whole parts, and the batches that touch them: what one thread takes at a time. */
export interface Stretch {
  /** The parts to make, in order. */
  readonly parts: readonly number[];
  readonly batches: readonly PackedBatch[];
  /** The batch of whose ids some lie in this stretch and some in the next. */
  readonly shared: Batch | undefined;
}

/** So many calls, or entries where few are asked for, are worth a thread's turn, however small parts are. */
const callsOfStretch = 16;
const entriesOfStretch = 100_000;

/**
 * Groups batches into stretches. Calls stay as full as they are: a batch that straddles the end of a stretch is in both,
 * in each whole, with the bounds of its own entries.
 */
export async function* cutStretches(batches: AsyncIterable<Batch>, need: Need): AsyncGenerator<Stretch, void, void> {
  const { rowsPerPart } = need;
  let open = new OpenStretch(need);
  for await (const batch of batches) {
    const end = batch.first + batch.entries.length;
    const border = Math.floor(end / rowsPerPart) * rowsPerPart;
    if (border <= batch.first || !open.isWorthATurn(batch)) {
      open.take(batch);
      batch.entries.release();
      continue;
    }
    const { left, right, isShared } = cutBatch(batch, border);
    open.take(left, isShared);
    yield open.stretch(isShared ? batch : undefined);
    open = new OpenStretch(need);
    if (right !== undefined) open.take(right, isShared);
    if (!isShared) batch.entries.release();
  }
  if (open.entries > 0) yield open.stretch(undefined);
}

class OpenStretch {
  entries = 0;
  readonly #need: Need;
  readonly #batches: PackedBatch[] = [];
  readonly #parts = new Set<number>();
  #calls = 0;

  constructor(need: Need) {
    this.#need = need;
  }

  /** Whether it is long enough once it has this batch. */
  isWorthATurn({ ids, entries }: Batch): boolean {
    const calls = this.#calls + (ids.length > 0 ? 1 : 0);
    return calls >= callsOfStretch || this.entries + entries.length >= entriesOfStretch;
  }

  take(batch: Batch, isShared = false): void {
    const { rowsPerPart, isNeeded } = this.#need;
    const { first, start, end } = batch;
    const last = Math.floor((first + end - 1) / rowsPerPart);
    for (let part = Math.floor((first + start) / rowsPerPart); part <= last; part += 1) {
      if (isNeeded(part)) this.#parts.add(part);
    }
    this.entries += end - start;
    if (batch.ids.length > 0) this.#calls += 1;
    this.#batches.push(packBatch(batch, isShared));
  }

  stretch(shared: Batch | undefined): Stretch {
    return { parts: [...this.#parts], batches: this.#batches, shared };
  }
}

interface CutBatch {
  readonly left: Batch;
  readonly right: Batch | undefined;
  /** Whether both sides have ids. */
  readonly isShared: boolean;
}

function cutBatch(batch: Batch, border: number): CutBatch {
  const { entries, ids } = batch;
  const cut = border - batch.first;
  if (cut === entries.length) return { left: batch, right: undefined, isShared: false };
  const left = { ...batch, end: cut };
  const right = { ...batch, start: cut };
  const idsBefore = ids.length === 0 ? 0 : entries.validBetween(0, cut);
  if (idsBefore === 0) return { left: { ...left, ids: noIds }, right, isShared: false };
  if (idsBefore === ids.length) return { left, right: { ...right, ids: noIds }, isShared: false };
  return { left, right, isShared: true };
}
