import type { FinishedExport } from '../finished/finished-export.ts';
import type { RowBlock } from '../records/row-block.ts';
import { recordPieces } from './base-rows.ts';
import { type BaseKeys, marks } from './base-keys.ts';
import { recordRowsOf, wholeRows } from './refresh-asker.ts';

/** Records that become rows at once. */
const recordsAtOnce = 500;

/** A bit for each row of the base whose id is not among the ids. */
export function unlistedRows(keys: BaseKeys): { readonly bits: Uint8Array; readonly count: number } {
  const bits = new Uint8Array(Math.ceil(keys.rows / 8));
  let count = 0;
  for (const slot of keys.slots()) {
    if (keys.fate(slot) !== 'row' || keys.has(slot, marks.listed)) continue;
    const row = keys.row(slot);
    bits[row >>> 3] = (bits[row >>> 3] ?? 0) | (1 << (row & 7));
    count += 1;
  }
  return { bits, count };
}

/** The records of these rows, in the order of the base, as whole rows of `assets`. */
export async function* unlistedRecords(
  finished: FinishedExport,
  { bits, count }: ReturnType<typeof unlistedRows>,
): AsyncGenerator<RowBlock, void, void> {
  if (count === 0) return;
  let row = 0;
  const waiting: Buffer[] = [];
  const block = (): RowBlock => wholeRows(recordRowsOf(waiting.splice(0)));
  for await (const piece of recordPieces(finished)) {
    for (let index = 0; index < piece.count; index += 1, row += 1) {
      if (((bits[row >>> 3] ?? 0) & (1 << (row & 7))) === 0) continue;
      if (waiting.push(piece.at(index)) >= recordsAtOnce) yield block();
    }
  }
  if (waiting.length > 0) yield block();
}
