import {
  answerEndSlot,
  answerSlot,
  careSlot,
  columnCountSlot,
  fixedSlot,
  fixedStartsSlot,
  madeBeforeSlot,
  madeBytesSlot,
  madeEndSlot,
  madeSlot,
  paddingBytes,
  placesSlot,
  plainCare,
  recordCountSlot,
  scanDone,
  scanFull,
  scanRefused,
  scanSlot,
  skipBytesSlot,
  skipColumnSlot,
  stoppedSlot,
  stringCare,
  timeCare,
} from '../src/lib/kernel/slots';
import { addSingled, addUnescaped, beginMade, cutMade, hasRoom, isFull, madeEnd, madeFrom, setFull } from './made';
import { addressSlot, allowReads, blockAt, byteAt, setSlot, slot } from './memory';
import { addRow, cellOf, cutRows, rowsOf, setCell, table } from './rows';
import {
  closeBrace,
  comma,
  escapes,
  isEscaped,
  literalEnd,
  lowerN,
  nine,
  numberEnd,
  quote,
  reprint,
  separated,
  separators,
  setReprint,
  setSeparated,
  stopsIn,
  stringEnd,
  stringMarks,
} from './tokens';
import { valueEnd } from './value';

/** Rows of a file as this program writes them, read back into table 0. What is written otherwise is refused: TypeScript reads that row. */

const rows: usize = table(0);
const lineFeed: u32 = 0x0a;

let sourceAt: usize = 0;
let sourceEnd: usize = 0;
let columns: i32 = 0;
/** By the column in the file: its place in the row, or -1; and what its cells are. */
let placesAt: usize = 0;
let caresAt: usize = 0;
/** Of JSONL the keys, of CSV the text of null. */
let fixedAt: usize = 0;
let startsAt: usize = 0;
let skipColumn: i32 = 0;
let skipBytes: usize = 0;
/** Where the last time lies, and its length: most rows have the same. */
let timeAt: usize = 0;
let timeLength: i32 = 0;

function begin(): void {
  sourceAt = addressSlot(answerSlot);
  sourceEnd = addressSlot(answerEndSlot);
  columns = slot(columnCountSlot);
  placesAt = addressSlot(placesSlot);
  caresAt = addressSlot(careSlot);
  fixedAt = addressSlot(fixedSlot);
  startsAt = addressSlot(fixedStartsSlot);
  skipColumn = slot(skipColumnSlot);
  skipBytes = addressSlot(skipBytesSlot);
  timeLength = -1;
  allowReads(sourceAt, sourceEnd + paddingBytes);
  beginMade(addressSlot(madeSlot), slot(madeBytesSlot), slot(madeBeforeSlot));
  cutRows(rows, 0);
}

/** Reads rows up to the end, or up to one that is refused or has no room: nothing is left of that one. */
export function readRows(isCsv: bool): i32 {
  begin();
  let at = addressSlot(scanSlot);
  let outcome: i32 = scanDone;
  while (at < sourceEnd) {
    const made = madeEnd();
    const before = rowsOf(rows);
    setFull(false);
    let end: usize = 0;
    if (addRow(rows)) end = isCsv ? csvRowEnd(at) : lineEnd(at);
    if (end == 0) {
      outcome = isFull ? scanFull : scanRefused;
      cutRows(rows, before);
      cutMade(made);
      break;
    }
    at = end;
  }
  setSlot(recordCountSlot, rowsOf(rows));
  setSlot(stoppedSlot, <i32>at);
  setSlot(madeEndSlot, <i32>madeEnd());
  return outcome;
}

function placeOf(column: i32): i32 {
  return load<i32>(placesAt + ((<usize>column) << 2));
}

function fixedStart(number: i32): i32 {
  return load<i32>(startsAt + ((<usize>number) << 2));
}

/** Has a cell hold the source from `start` up to `end`. */
function setSpan(place: i32, start: usize, end: usize, marks: i32): void {
  setCell(rows, cellOf(rows, place), <i32>(start - sourceAt), <i32>(end - start), marks);
}

/** A time as text, of which TypeScript makes digits: equal ones that follow one another are one. */
function setTime(place: i32, start: usize, end: usize): void {
  const length = <i32>(end - start);
  if (length != timeLength || !isSame(start, timeAt, length)) {
    timeAt = start;
    timeLength = length;
  }
  setSpan(place, timeAt, timeAt + length, 0);
}

/** Whether bytes are the same, sixteen at a time: of both, up to fifteen behind the last are read. */
function isSame(at: usize, other: usize, length: i32): bool {
  for (let done = 0; done < length; done += 16) {
    const same = i8x16.bitmask(i8x16.eq(blockAt(at + done), v128.load(other + done)));
    const left = length - done;
    const wanted = left >= 16 ? 0xffff : (1 << left) - 1;
    if ((same & wanted) != wanted) return false;
  }
  return true;
}

/** Marks of a text that lies in the source or among the texts that are made. */
function marksOf(start: usize, end: usize): i32 {
  let marks = 0;
  for (let at = start; at < end; at += 16) {
    const left = end - at;
    const wanted = left >= 16 ? 0xffff : (1 << (<i32>left)) - 1;
    const block = v128.load(at);
    const stops = stopsIn(block) & wanted;
    const quotes = i8x16.eq(block, i8x16.splat(0x22));
    const breaks = v128.or(i8x16.eq(block, i8x16.splat(0x0a)), i8x16.eq(block, i8x16.splat(0x0d)));
    const commas = i8x16.eq(block, i8x16.splat(0x2c));
    if (stops != 0) marks |= escapes;
    if ((i8x16.bitmask(v128.or(v128.or(quotes, breaks), commas)) & wanted) != 0) marks |= separators;
  }
  return marks;
}

function csvRowEnd(start: usize): usize {
  let at = start;
  for (let column = 0; column < columns; column += 1) {
    at = byteAt(at) == quote ? quotedCell(at + 1, column) : bareCell(at, column);
    if (at == 0 || byteAt(at) != (column == columns - 1 ? lineFeed : comma)) return 0;
    at += 1;
  }
  return at;
}

/** Each gives what follows the cell; 0 where the source ends before. */
function bareCell(start: usize, column: i32): usize {
  let at = start;
  for (;;) {
    const block = blockAt(at);
    const ends = v128.or(i8x16.eq(block, i8x16.splat(0x2c)), i8x16.eq(block, i8x16.splat(0x0a)));
    const found = i8x16.bitmask(ends);
    if (found != 0) {
      at += ctz(found);
      break;
    }
    at += 16;
    if (at >= sourceEnd) return 0;
  }
  const nullLength = fixedStart(1) - fixedStart(0);
  const place = placeOf(column);
  if (place < 0 || (<i32>(at - start) == nullLength && isSame(start, fixedAt, nullLength))) return at;
  putText(place, start, at, column);
  return at;
}

function quotedCell(start: usize, column: i32): usize {
  let at = start;
  let isDoubled = false;
  for (;;) {
    const quotes = i8x16.bitmask(i8x16.eq(blockAt(at), i8x16.splat(0x22)));
    if (quotes == 0) {
      at += 16;
      if (at >= sourceEnd) return 0;
      continue;
    }
    at += ctz(quotes);
    if (byteAt(at + 1) != quote) break;
    isDoubled = true;
    at += 2;
    if (at >= sourceEnd) return 0;
  }
  const place = placeOf(column);
  if (place >= 0 && !isDoubled) putText(place, start, at, column);
  return place < 0 || !isDoubled || putSingled(place, start, at) ? at + 1 : 0;
}

function putText(place: i32, start: usize, end: usize, column: i32): void {
  const care = load<u8>(caresAt + column);
  if (care == timeCare) setTime(place, start, end);
  else setSpan(place, start, end, care == plainCare ? 0 : marksOf(start, end));
}

/** A text whose quotes are doubled. */
function putSingled(place: i32, start: usize, end: usize): bool {
  if (!hasRoom(end - start)) return false;
  const made = madeEnd();
  addSingled(start, end);
  const marks = marksOf(made, madeEnd());
  setCell(rows, cellOf(rows, place), madeFrom(made), <i32>(madeEnd() - made), marks);
  return true;
}

/** Of a line of JSON with the columns in their order. */
function lineEnd(start: usize): usize {
  let at = start;
  for (let column = 0; column < columns; column += 1) {
    const last: usize = column == skipColumn ? lastKey(at) : 0;
    if (last != 0) {
      at = last;
      column = columns - 1;
    }
    const key = fixedStart(column);
    const length = fixedStart(column + 1) - key;
    if (at + <usize>length > sourceEnd || !isSame(at, fixedAt + key, length)) return 0;
    at = jsonCell(at + <usize>length, column);
    if (at == 0) return 0;
  }
  return byteAt(at) == closeBrace && byteAt(at + 1) == lineFeed ? at + 2 : 0;
}

/** Where the last key of a line begins, when its value is a time; else 0. What lies before it is not looked at. */
function lastKey(start: usize): usize {
  for (let at = start; at < sourceEnd; at += 16) {
    const found = i8x16.bitmask(i8x16.eq(blockAt(at), i8x16.splat(0x0a)));
    if (found == 0) continue;
    const key = at + ctz(found) - skipBytes;
    const from = fixedStart(columns - 1);
    return key > start && isSame(key, fixedAt + from, fixedStart(columns) - from) ? key : 0;
  }
  return 0;
}

function jsonCell(at: usize, column: i32): usize {
  const place = placeOf(column);
  const byte = byteAt(at);
  if (place < 0) return byte == quote ? stringEnd(at) : valueEnd(at);
  if (byte == lowerN) return literalEnd(at);
  const care = load<u8>(caresAt + column);
  if (care == stringCare || care == timeCare) return stringCell(at, place, care == timeCare);
  if (care == plainCare) {
    const end = byte > nine ? literalEnd(at) : numberEnd(at);
    if (end != 0) setSpan(place, at, end, 0);
    return end;
  }
  setReprint(false);
  setSeparated(false);
  const end = valueEnd(at);
  if (end == 0 || reprint) return 0;
  setSpan(place, at, end, separated ? separators : 0);
  return end;
}

function stringCell(at: usize, place: i32, isTime: bool): usize {
  const end = stringEnd(at);
  if (end == 0) return 0;
  if (isTime) {
    if (isEscaped) return 0;
    setTime(place, at + 1, end - 1);
  } else if (!isEscaped) setSpan(place, at + 1, end - 1, stringMarks);
  else {
    if (!hasRoom(end - at)) return 0;
    const made = madeEnd();
    const marks = stringMarks | addUnescaped(at + 1, end - 1);
    setCell(rows, cellOf(rows, place), madeFrom(made), <i32>(madeEnd() - made), marks);
  }
  return end;
}
