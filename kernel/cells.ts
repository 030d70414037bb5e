import { isCellText } from './host';
import { byteAt } from './memory';
import { addBytes, addReprinted, addUnescaped, hasRoom, madeEnd, madeFrom, textMarks } from './made';
import { isValue, Kind, numberOf } from './plan';
import { setCell } from './rows';
import { addDrift, answerAt, typeOffset } from './state';
import {
  digits,
  escapes,
  fractionEnd,
  isEscaped,
  isOddlyEscaped,
  literalEnd,
  lowerF,
  lowerT,
  minus,
  numberEnd,
  openBrace,
  openBracket,
  quote,
  reprint,
  separated,
  separators,
  setReprint,
  setSeparated,
  stringEnd,
  stringMarks,
} from './tokens';
import { valueEnd } from './value';

/** Marks of JSON text with a string or a comma in it. */
export const jsonMarks: i32 = separators | escapes;

/** JSON types of a trait's value, in the order of their names among the constants. */
const typeString: i32 = 0;
const typeNumber: i32 = 1;
const typeBoolean: i32 = 2;
const typeArray: i32 = 3;
const typeObject: i32 = 4;
const typeNull: i32 = 5;
/** Where the names of the types begin among them, and the last ends. */
const typeStarts: usize = memory.data<u8>([0, 6, 12, 19, 24, 30, 34]);

// Each function fills a cell with the value that begins at `at`, and gives where that ends; 0 when the cell cannot hold it as it stands there.

export function booleanCell(table: usize, cell: i32, at: usize): usize {
  const byte = byteAt(at);
  const end = byte == lowerT || byte == lowerF ? literalEnd(at) : 0;
  if (end != 0) spanCell(table, cell, at, end, 0);
  return end;
}

/** A string; one that is not among the member's values is counted as drift. */
export function stringCell(table: usize, cell: i32, at: usize, member: usize): usize {
  const end = textCell(table, cell, at);
  if (end != 0 && !isValue(member, textAt, textLength)) addDrift(numberOf(member));
  return end;
}

/** Of the text that was put into a cell last. */
let textAt: usize = 0;
let textLength: i32 = 0;

function textCell(table: usize, cell: i32, at: usize): usize {
  const end = stringEnd(at);
  if (end == 0) return 0;
  textAt = at + 1;
  textLength = <i32>(end - at) - 2;
  if (!isEscaped) {
    setCell(table, cell, <i32>(textAt - answerAt), textLength, stringMarks);
    return end;
  }
  if (isOddlyEscaped) setReprint(true);
  if (!hasRoom(<usize>textLength)) return 0;
  const start = madeEnd();
  const marks = addUnescaped(at + 1, end - 1) | stringMarks;
  textAt = start;
  textLength = <i32>(madeEnd() - start);
  setCell(table, cell, madeFrom(start), textLength, marks);
  return end;
}

function spanCell(table: usize, cell: i32, at: usize, end: usize, marks: i32): void {
  setCell(table, cell, <i32>(at - answerAt), <i32>(end - at), marks);
}

/** Longer texts of numbers are read the long way. */
const mostDigits: usize = 32;

/** Numbers whose text is that of their cell: the longest that always fit have 18 digits in an int64, 19 in a u64, 15 in a double. */
export function numberCell(table: usize, cell: i32, at: usize, kind: i32): usize {
  const end = numberEnd(at);
  if (end == 0) return 0;
  if (kind == Kind.double && fractionEnd != 0) {
    spanCell(table, cell, at, fractionEnd, 0);
    return end;
  }
  const most = kind == Kind.int64 ? 18 : kind == Kind.decimal ? 19 : 15;
  const isPlain = digits > 0 && digits <= most && (kind != Kind.decimal || byteAt(at) != minus);
  if (!isPlain && (end - at > mostDigits || !isCellText(at, <i32>(end - at), kind))) return 0;
  spanCell(table, cell, at, end, 0);
  return end;
}

/** Of `reprint` and `separated`: what was raised before one value, so that they can say what this alone holds. */
export function beginText(): i32 {
  const outer = (reprint ? 1 : 0) | (separated ? 2 : 0);
  setReprint(false);
  setSeparated(false);
  return outer;
}

export function endText(outer: i32): void {
  if ((outer & 1) != 0) setReprint(true);
  if ((outer & 2) != 0) setSeparated(true);
}

export function jsonValueCell(table: usize, cell: i32, at: usize): usize {
  const outer = beginText();
  const end = valueEnd(at);
  if (end == 0 || !jsonCell(table, cell, at, end)) return 0;
  endText(outer);
  return end;
}

/** Fills a json cell: with the bytes as they are where they are what JSON.stringify gives. False where there is no room. */
export function jsonCell(table: usize, cell: i32, start: usize, end: usize): bool {
  const marks = separated ? jsonMarks : 0;
  if (!reprint) {
    spanCell(table, cell, start, end, marks);
    return true;
  }
  if (!reprinted(start, end)) return false;
  setCell(table, cell, madeFrom(textAt), textLength, marks);
  return true;
}

/** Makes the text of a value in other words, at `textAt`. */
function reprinted(start: usize, end: usize): bool {
  if (!hasRoom(end - start)) return false;
  textAt = madeEnd();
  addReprinted(start, end);
  textLength = <i32>(madeEnd() - textAt);
  return true;
}

/** The text of a value, in the words of JSON.stringify, at `printedAt`. Gives where the value ends. */
export function printedEnd(at: usize): usize {
  const outer = beginText();
  const end = valueEnd(at);
  if (end == 0) return 0;
  textAt = at;
  textLength = <i32>(end - at);
  if (reprint && !reprinted(at, end)) return 0;
  endText(outer);
  return end;
}

export function printedAt(): usize {
  return textAt;
}

export function printedLength(): i32 {
  return textLength;
}

/** The value of a trait as text, and its type in the cell behind it. */
export function traitCell(table: usize, cell: i32, at: usize): usize {
  const byte = byteAt(at);
  if (byte == quote) {
    typeCell(table, cell, typeString);
    return textCell(table, cell, at);
  }
  if (byte == openBracket || byte == openBrace) {
    const end = printedEnd(at);
    if (end == 0 || !madeCell(table, cell)) return 0;
    typeCell(table, cell, byte == openBracket ? typeArray : typeObject);
    return end;
  }
  const isBoolean = byte == lowerT || byte == lowerF;
  const end = isBoolean ? literalEnd(at) : numberEnd(at);
  if (end == 0) return 0;
  spanCell(table, cell, at, end, 0);
  typeCell(table, cell, isBoolean ? typeBoolean : typeNumber);
  return end;
}

/** Puts the printed text into a cell of strings. */
function madeCell(table: usize, cell: i32): bool {
  if (!hasRoom(<usize>textLength)) return false;
  const start = madeEnd();
  addBytes(textAt, textLength);
  setCell(table, cell, madeFrom(start), textLength, textMarks(start, madeEnd()));
  return true;
}

export function typeCell(table: usize, cell: i32, type: i32): void {
  const start = <i32>load<u8>(typeStarts + type);
  const end = <i32>load<u8>(typeStarts + type + 1);
  setCell(table, cell + 1, ~(typeOffset + start), end - start, 0);
}

/** The type of `null`, which has no text. */
export function nullTrait(table: usize, cell: i32): void {
  typeCell(table, cell, typeNull);
}
