import { blockAt, byteAt } from './memory';

/**
 * Tokens of JSON. Each function begins at `at` and gives where its token ends; 0 when it refuses it. What it refuses may still be JSON, what it takes is (RFC 8259,
 * as the bytes are UTF-8). The zero behind the answer is refused by all, so none reads further.
 */

export const quote: u32 = 0x22;
export const comma: u32 = 0x2c;
export const minus: u32 = 0x2d;
export const zero: u32 = 0x30;
export const nine: u32 = 0x39;
export const colon: u32 = 0x3a;
export const openBracket: u32 = 0x5b;
export const backslash: u32 = 0x5c;
export const closeBracket: u32 = 0x5d;
export const lowerF: u32 = 0x66;
export const lowerN: u32 = 0x6e;
export const lowerT: u32 = 0x74;
export const lowerU: u32 = 0x75;
export const openBrace: u32 = 0x7b;
export const closeBrace: u32 = 0x7d;
const space: u32 = 0x20;

/** `textMarks` of `src/core/records/row-block.ts`. */
export const separators: i32 = 1;
export const escapes: i32 = 2;
export const replaced: i32 = 4;

/** Set when something is taken whose text is not the one that JSON.stringify gives: blanks, escapes. */
export let reprint: bool = false;
/** Set when a value is taken that holds a comma or a quote. */
export let separated: bool = false;

export function setReprint(value: bool): void {
  reprint = value;
}

export function setSeparated(value: bool): void {
  separated = value;
}

/** Behind the blanks, if any. */
export function next(at: usize): usize {
  return byteAt(at) > space ? at : behindBlanks(at);
}

function behindBlanks(start: usize): usize {
  let at = start;
  while (isBlank(byteAt(at))) at += 1;
  if (at != start) reprint = true;
  return at;
}

export function isBlank(byte: u32): bool {
  return byte == space || byte == 0x0a || byte == 0x0d || byte == 0x09;
}

/** Of the string that was taken last: `separators` when it holds a comma as such. */
export let stringMarks: i32 = 0;
/** It holds a backslash. */
export let isEscaped: bool = false;
/** JSON.stringify would print it in other words, as `\/` or `A`. */
export let isOddlyEscaped: bool = false;

export function stringEnd(start: usize): usize {
  if (byteAt(start) != quote) return 0;
  let at = start + 1;
  let commas: i32 = 0;
  isEscaped = false;
  isOddlyEscaped = false;
  for (;;) {
    const block = blockAt(at);
    const stops = stopsIn(block);
    const found = i8x16.bitmask(i8x16.eq(block, i8x16.splat(0x2c)));
    if (stops == 0) {
      commas |= found;
      at += 16;
      continue;
    }
    // Bits below the first stop.
    commas |= found & (stops - 1) & ~stops;
    at += ctz(stops);
    const byte = byteAt(at);
    if (byte == quote) break;
    if (byte != backslash) return 0;
    at = escapeEnd(at + 1);
    if (at == 0) return 0;
    isEscaped = true;
  }
  stringMarks = commas == 0 ? 0 : separators;
  return at + 1;
}

/** A bit for each byte that is a quote, a backslash or a control character. */
export function stopsIn(block: v128): i32 {
  const quotes = i8x16.eq(block, i8x16.splat(0x22));
  const backslashes = i8x16.eq(block, i8x16.splat(0x5c));
  return i8x16.bitmask(v128.or(v128.or(quotes, backslashes), i8x16.lt_u(block, i8x16.splat(0x20))));
}

function escapeEnd(at: usize): usize {
  const byte = byteAt(at);
  if (byte == lowerU) {
    isOddlyEscaped = true;
    for (let digit: usize = 1; digit <= 4; digit += 1) if (hexDigit(byteAt(at + digit)) < 0) return 0;
    return at + 5;
  }
  if (byte == 0x2f) isOddlyEscaped = true;
  return shortEscape(byte) < 0 ? 0 : at + 1;
}

/** What a backslash and this character stand for; -1 when for nothing. */
export function shortEscape(byte: u32): i32 {
  switch (byte) {
    case quote:
    case backslash:
    case 0x2f:
      return byte;
    case 0x62:
      return 0x08;
    case 0x66:
      return 0x0c;
    case 0x6e:
      return 0x0a;
    case 0x72:
      return 0x0d;
    case 0x74:
      return 0x09;
    default:
      return -1;
  }
}

/** The value of a hexadecimal digit; -1 for others. */
export function hexDigit(byte: u32): i32 {
  if (byte - zero < 10) return byte - zero;
  const letter = (byte | 0x20) - 0x61;
  return letter < 6 ? letter + 10 : -1;
}

/** Of the number that was taken last: its digits when it is an integer but minus zero, else 0. */
export let digits: i32 = 0;
/**
 * Of the number that was taken last, where it is a fraction of at most 7 + 6 digits: the end of a double's shortest text, without the zeros at its end (of `0.0`,
 * the first `0`). 0 for other numbers.
 */
export let fractionEnd: usize = 0;

export function numberEnd(start: usize): usize {
  const isNegative = byteAt(start) == minus;
  const first = isNegative ? start + 1 : start;
  let at = digitsEnd(first);
  const whole = at - first;
  const leadsWithZero = byteAt(first) == zero;
  if (whole == 0 || (leadsWithZero && whole > 1)) return 0;
  digits = isNegative && leadsWithZero ? 0 : <i32>whole;
  fractionEnd = 0;
  if (byteAt(at) == 0x2e) {
    const fraction = at + 1;
    at = digitsEnd(fraction);
    if (at == fraction) return 0;
    digits = 0;
    if (whole <= 7 && at - fraction <= 6) fractionEnd = shortEnd(fraction, at);
  }
  if ((byteAt(at) | 0x20) == 0x65) {
    at += 1;
    if (byteAt(at) == 0x2b || byteAt(at) == minus) at += 1;
    const exponent = at;
    at = digitsEnd(exponent);
    if (at == exponent) return 0;
    digits = 0;
    fractionEnd = 0;
  }
  return at;
}

function digitsEnd(start: usize): usize {
  let at = start;
  while (byteAt(at) - zero < 10) at += 1;
  return at;
}

function shortEnd(fraction: usize, end: usize): usize {
  let last = end;
  while (last > fraction && byteAt(last - 1) == zero) last -= 1;
  return last > fraction ? last : fraction - 1;
}

/** `true`, `false` or `null`. A load of four bytes stays in the padding. */
export function literalEnd(at: usize): usize {
  const four = <u32>i32x4.extract_lane(blockAt(at), 0);
  if (four == 0x65757274 || four == 0x6c6c756e) return at + 4;
  return four == 0x736c6166 && byteAt(at + 4) == 0x65 ? at + 5 : 0;
}
