import {
  escapeFormulasSlot,
  fixedSlot,
  fixedStartsSlot,
  formulasSlot,
  outBytesSlot,
  outSlot,
  plainCare,
  quoteTextsSlot,
  replacedSlot,
  rowCountSlot,
  rowsWrittenSlot,
  stopBytesSlot,
  stringCare,
  timeCare,
  writtenSlot,
} from '../src/lib/kernel/slots';
import { beginBlock, caresAt, columns, fromAt, lengthAt, marksAt, putText, sourceAt, textsAt } from './block';
import { hexLetter, letterOf } from './made';
import { addressSlot, copy, setSlot, slot } from './memory';
import { backslash, comma, escapes, lowerU, quote, replaced, separators, stopsIn, zero } from './tokens';

let fixedAt: usize = 0;
let startsAt: usize = 0;
let quotesTexts: bool = false;
let escapesFormulas: bool = false;

let formulas: i32 = 0;
let replacements: i32 = 0;

/** Bytes of a cell besides its text and the fixed texts, at most: comma, two quotes, an apostrophe; and what is written sixteen at a time. */
const besideText: usize = 32;

function begin(): void {
  beginBlock();
  fixedAt = addressSlot(fixedSlot);
  startsAt = addressSlot(fixedStartsSlot);
  quotesTexts = slot(quoteTextsSlot) != 0;
  escapesFormulas = slot(escapeFormulasSlot) != 0;
  formulas = 0;
  replacements = 0;
  markFirstBytes();
}

/** Writes rows as CSV, as many as there is room for. */
export function encodeCsv(): void {
  encode(true);
}

/** The same as JSONL. */
export function encodeJsonl(): void {
  encode(false);
}

function encode(isCsv: bool): void {
  begin();
  const first = addressSlot(outSlot);
  const last = first + slot(outBytesSlot);
  const stop = first + slot(stopBytesSlot);
  const rows = slot(rowCountSlot);
  let out = first;
  let row = 0;
  for (; row < rows && out < stop; row += 1) {
    const found = formulas;
    const lost = replacements;
    const end = isCsv ? csvRow(row * columns, out, last) : jsonRow(row * columns, out, last);
    if (end == 0) {
      formulas = found;
      replacements = lost;
      break;
    }
    out = end;
  }
  setSlot(writtenSlot, <i32>(out - first));
  setSlot(rowsWrittenSlot, row);
  setSlot(formulasSlot, formulas);
  setSlot(replacedSlot, replacements);
}

function putFixed(out: usize, number: i32): usize {
  const start = load<i32>(startsAt + ((<usize>number) << 2));
  const end = load<i32>(startsAt + ((<usize>number) << 2) + 4);
  copy(out, fixedAt + start, end - start);
  return out + (end - start);
}

/** Bytes of the fixed text of a number. */
function fixedLength(number: i32): usize {
  const entry = startsAt + ((<usize>number) << 2);
  return load<i32>(entry + 4) - load<i32>(entry);
}

/** Each row gives where it ends; 0 where it might not end before `last`. */
function csvRow(first: i32, start: usize, last: usize): usize {
  const froms = fromAt + ((<usize>first) << 2);
  const lengths = lengthAt + ((<usize>first) << 2);
  const marks = marksAt + first;
  const cares = caresAt;
  const source = sourceAt;
  const texts = textsAt;
  const nullBytes = fixedLength(0);
  let out = start;
  for (let column: usize = 0; column < <usize>columns; column += 1) {
    const length = load<i32>(lengths + (column << 2));
    if (column > 0) {
      store<u8>(out, comma);
      out += 1;
    }
    // Every byte may be a quote, which is doubled; the null text is at most two.
    if (out + 2 * <usize>max(0, length) + besideText > last) return 0;
    if (length < 0) {
      if (nullBytes > 0) out = putFixed(out, 0);
      continue;
    }
    const from = load<i32>(froms + (column << 2));
    const at = from < 0 ? texts + ~from : source + from;
    const care = load<u8>(cares + column);
    const mark = load<u8>(marks + column);
    if (isBare(care, mark, at, length)) out = putText(out, at, length);
    else out = csvText(out, at, length, mark, care == stringCare);
  }
  store<u8>(out, 0x0a);
  return out + 1;
}

/** Whether a text stands as it is, and there is nothing to count: most do. */
function isBare(care: u32, mark: u32, at: usize, length: i32): bool {
  if (care == plainCare || care == timeCare) return true;
  if (mark != 0 || length == 0 || quotesTexts) return false;
  return care != stringCare || load<u8>(firstBytes + load<u8>(at)) == 0;
}

/** Whether a byte may begin a formula: 1 alone, 2 with two more. */
const firstBytes: usize = memory.data(256);

function markFirstBytes(): void {
  // = + - @ tab CR
  store<u8>(firstBytes + 0x3d, 1);
  store<u8>(firstBytes + 0x2b, 1);
  store<u8>(firstBytes + 0x2d, 1);
  store<u8>(firstBytes + 0x40, 1);
  store<u8>(firstBytes + 0x09, 1);
  store<u8>(firstBytes + 0x0d, 1);
  store<u8>(firstBytes + 0xef, 2);
}

function csvText(start: usize, at: usize, length: i32, marks: u32, isString: bool): usize {
  let out = start;
  const isMarked = (marks & separators) != 0;
  const isQuoted = isMarked || quotesTexts || length == 0;
  if (isQuoted) {
    store<u8>(out, quote);
    out += 1;
  }
  if (isString) {
    if ((marks & replaced) != 0) replacements += 1;
    if (length > 0 && startsFormula(at, length)) {
      formulas += 1;
      if (escapesFormulas) {
        store<u8>(out, 0x27);
        out += 1;
      }
    }
  }
  out = isMarked ? putDoubled(out, at, length) : putText(out, at, length);
  if (isQuoted) {
    store<u8>(out, quote);
    out += 1;
  }
  return out;
}

/** A text with the quotes in it doubled. */
function putDoubled(start: usize, from: usize, length: i32): usize {
  let out = start;
  const end = from + length;
  for (let at = from; at < end; ) {
    const block = v128.load(at);
    v128.store(out, block);
    const quotes = i8x16.bitmask(i8x16.eq(block, i8x16.splat(0x22)));
    const plain = <usize>(quotes == 0 ? 16 : ctz(quotes));
    if (at + plain >= end) return out + (end - at);
    at += plain;
    out += plain;
    if (quotes == 0) continue;
    store<u16>(out, 0x2222);
    at += 1;
    out += 2;
  }
  return out;
}

/** Whether a spreadsheet may run a text: `=`, `+`, `-`, `@`, tab, CR, and the full-width forms of the four signs (OWASP, "CSV Injection"). */
function startsFormula(at: usize, length: i32): bool {
  const first = load<u8>(firstBytes + load<u8>(at));
  if (first < 2 || length < 3 || load<u8>(at + 1) != 0xbc) return first == 1;
  const third = load<u8>(at + 2);
  return third == 0x9d || third == 0x8b || third == 0x8d || third == 0xa0;
}

function jsonRow(first: i32, start: usize, last: usize): usize {
  const froms = fromAt + ((<usize>first) << 2);
  const lengths = lengthAt + ((<usize>first) << 2);
  const source = sourceAt;
  const texts = textsAt;
  const cares = caresAt;
  const starts = startsAt;
  const fixed = fixedAt;
  let out = start;
  for (let column: usize = 0; column < <usize>columns; column += 1) {
    const length = load<i32>(lengths + (column << 2));
    const key = starts + (column << 3) + (length < 0 ? 4 : 0);
    const keyStart = load<i32>(key);
    const keyBytes = load<i32>(key, 4) - keyStart;
    // Most texts have no escape; one has six bytes at most.
    if (out + keyBytes + <usize>max(0, length) + besideText > last) return 0;
    out = putText(out, fixed + keyStart, keyBytes);
    if (length < 0) continue;
    const from = load<i32>(froms + (column << 2));
    const at = from < 0 ? texts + ~from : source + from;
    const care = load<u8>(cares + column);
    const marks: u32 = care == stringCare ? load<u8>(marksAt + first + column) : 0;
    if ((marks & escapes) == 0) out = putText(out, at, length);
    else {
      if (out + 6 * <usize>length + besideText > last) return 0;
      out = putEscaped(out, at, length);
    }
    if ((marks & replaced) != 0) replacements += 1;
    if (care == stringCare || care == timeCare) {
      store<u8>(out, quote);
      out += 1;
    }
  }
  store<u16>(out, 0x0a7d);
  return out + 2;
}

/** A text as it stands inside a JSON string. */
function putEscaped(start: usize, from: usize, length: i32): usize {
  let out = start;
  const end = from + length;
  for (let at = from; at < end; ) {
    const block = v128.load(at);
    v128.store(out, block);
    const stops = stopsIn(block);
    const plain = <usize>(stops == 0 ? 16 : ctz(stops));
    if (at + plain >= end) return out + (end - at);
    at += plain;
    out += plain;
    if (stops == 0) continue;
    out = putEscape(out, load<u8>(at));
    at += 1;
  }
  return out;
}

function putEscape(out: usize, code: u32): usize {
  store<u8>(out, backslash);
  const letter = letterOf(code);
  if (letter != 0) {
    store<u8>(out + 1, letter);
    return out + 2;
  }
  store<u8>(out + 1, lowerU);
  store<u16>(out + 2, 0x3030);
  store<u8>(out + 4, zero + (code >> 4));
  store<u8>(out + 5, hexLetter(code & 15));
  return out + 6;
}
