import {
  answerEndSlot,
  boundsCapacitySlot,
  boundsSlot,
  driftCountSlot,
  driftsBeforeSlot,
  elementExtraSlot,
  extraBytesSlot,
  madeBeforeSlot,
  madeBytesSlot,
  madeEndSlot,
  madeSlot,
  mostRecordsSlot,
  paddingBytes,
  recordCountSlot,
  recordEndSlot,
  recordExtraSlot,
  scanDone,
  scanFull,
  scanRefused,
  scanSlot,
  stoppedSlot,
  tableCount,
} from '../src/lib/kernel/slots';
import { elementExtra, placeExtra, recordExtra } from './extra';
import { beginMade, cutMade, isFull, madeEnd, setFull } from './made';
import { addressSlot, allowReads, byteAt, setSlot, slot } from './memory';
import { firstRow, markFirstRows, recordEnd } from './record';
import { allRowsOf, cutRows, table } from './rows';
import { answerAt, beginState, cutDrifts, drifts, hasDriftRoom } from './state';
import { comma, next, reprint, setReprint } from './tokens';

/** Makes rows of the records of an array, until one is refused or has no room. Nothing is left of that one. */
export function scan(): i32 {
  beginState();
  allowReads(answerAt, addressSlot(answerEndSlot) + paddingBytes);
  beginMade(addressSlot(madeSlot), slot(madeBytesSlot), slot(madeBeforeSlot));
  placeExtra(recordExtra, addressSlot(recordExtraSlot), slot(extraBytesSlot));
  placeExtra(elementExtra, addressSlot(elementExtraSlot), slot(extraBytesSlot));
  for (let index = 0; index < tableCount; index += 1) cutRows(table(index), 0);
  const most = slot(mostRecordsSlot);
  const room = slot(boundsCapacitySlot);
  let at = addressSlot(scanSlot);
  let records = 0;
  let outcome: i32 = scanDone;
  while (records < most) {
    const end = records < room ? oneRecord(at, records) : 0;
    if (end == 0) {
      outcome = isFull || records == room ? scanFull : scanRefused;
      break;
    }
    records += 1;
    setSlot(recordEndSlot, <i32>end);
    at = next(end);
    if (byteAt(at) != comma) break;
    at = next(at + 1);
  }
  setSlot(recordCountSlot, records);
  setSlot(stoppedSlot, <i32>at);
  setSlot(madeEndSlot, <i32>madeEnd());
  setSlot(driftCountSlot, drifts);
  return outcome;
}

/** Reads a record, or leaves nothing of it behind. */
function oneRecord(at: usize, number: i32): usize {
  const made = madeEnd();
  const drifted = drifts;
  markFirstRows();
  setFull(false);
  setReprint(false);
  const end = recordEnd(at);
  if (end != 0 && hasDriftRoom()) {
    close(number, at, end);
    return end;
  }
  if (end != 0) setFull(true);
  for (let index = 0; index < tableCount; index += 1) cutRows(table(index), firstRow(index));
  cutMade(made);
  cutDrifts(drifted);
  return 0;
}

/** The numbers that are kept of a record, as `bound` of `src/core/records/scan/kernel-scan.ts` has them. */
function close(number: i32, start: usize, end: usize): void {
  const width = 3 + tableCount;
  const bounds = addressSlot(boundsSlot) + ((<usize>number * width) << 2);
  store<i32>(bounds, <i32>(start - answerAt));
  store<i32>(bounds + 4, <i32>(end - answerAt));
  store<i32>(bounds + 8, reprint ? 1 : 0);
  store<i32>(bounds + 12, drifts + slot(driftsBeforeSlot));
  for (let index = 1; index < tableCount; index += 1) store<i32>(bounds + 12 + (index << 2), allRowsOf(table(index)));
}
