import type { FinishedExport } from '../../../exports/finished-export.ts';
import type { RowBlock } from '../../../core/records/row-block.ts';
import { BitSet } from '../../../lib/bit-set.ts';
import { recordPieces } from './record-pieces.ts';
import { type BaseKeys, marks } from './base-keys.ts';
import { recordRowsOf, wholeRows } from '../../../exports/row-batch.ts';

/** Records that become rows at once. */
const recordsAtOnce = 500;

/** The rows of the base whose ids are not among the ids. */
export function unlistedRows(keys: BaseKeys): { readonly rows: BitSet; readonly count: number } {
  const rows = new BitSet(keys.rows);
  let count = 0;
  for (const slot of keys.slots()) {
    if (keys.fate(slot) !== 'row' || keys.has(slot, marks.listed)) continue;
    rows.add(keys.row(slot));
    count += 1;
  }
  return { rows, count };
}

/** The records of these rows, in the order of the base, as whole rows of `assets`. */
export async function* unlistedRecords(
  finished: FinishedExport,
  { rows, count }: ReturnType<typeof unlistedRows>,
): AsyncGenerator<RowBlock, void, void> {
  if (count === 0) return;
  let row = 0;
  const waiting: Buffer[] = [];
  const block = (): RowBlock => wholeRows(recordRowsOf(waiting.splice(0)));
  for await (const piece of recordPieces(finished)) {
    for (let index = 0; index < piece.count; index += 1, row += 1) {
      if (!rows.has(row)) continue;
      if (waiting.push(piece.at(index)) >= recordsAtOnce) yield block();
    }
  }
  if (waiting.length > 0) yield block();
}
