import {
  answerSlot,
  careSlot,
  cellFromSlot,
  cellLengthSlot,
  cellMarksSlot,
  columnCountSlot,
  textsSlot,
} from '../src/lib/kernel/slots';
import { addressSlot, allowReads, copy, slot } from './memory';

/** A block to be encoded: where its cells' texts lie, as in `RowBlock`, and what the cells of each column are. */
export let sourceAt: usize = 0;
export let textsAt: usize = 0;
export let fromAt: usize = 0;
export let lengthAt: usize = 0;
export let marksAt: usize = 0;
export let caresAt: usize = 0;
export let columns: i32 = 0;

export function beginBlock(): void {
  sourceAt = addressSlot(answerSlot);
  textsAt = addressSlot(textsSlot);
  fromAt = addressSlot(cellFromSlot);
  lengthAt = addressSlot(cellLengthSlot);
  marksAt = addressSlot(cellMarksSlot);
  caresAt = addressSlot(careSlot);
  columns = slot(columnCountSlot);
  // Answer, texts and their padding lie before the cells.
  allowReads(sourceAt, fromAt);
}

/** Copies a text sixteen bytes at a time: up to 15 behind its end are read, which are padding at most, and written. */
export function putText(out: usize, at: usize, length: i32): usize {
  v128.store(out, v128.load(at));
  if (length > 16) copy(out + 16, at + 16, length - 16);
  return out + length;
}
