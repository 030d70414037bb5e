// The text given here is the latin1 view of UTF-8 bytes: one character a byte, so positions in it are positions in the
// bytes, and every character that JSON gives a meaning to is itself.

const quote = 0x22;
const backslash = 0x5c;
const minus = 0x2d;
const zero = 0x30;

/** The position of the first character at or after `at` that is no JSON white space. */
export function skipBlanks(text: string, at: number): number {
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}

export interface JsonExtent {
  /** Behind the last character; -1 when the text ends before the value does. */
  readonly end: number;
  /** True when JavaScript prints every number in it as it stands there: then JSON.parse loses nothing. */
  readonly plainNumbers: boolean;
}

/**
 * How far the JSON value reaches that begins at `at`. Only quotes, brackets and digits are looked at: whether it *is* a
 * value, parsing it tells.
 */
export function extentOf(text: string, at: number): JsonExtent {
  const first = text.charCodeAt(at);
  if (first === quote) return { end: stringEnd(text, at), plainNumbers: true };
  if (first === 0x7b || first === 0x5b) return nestedExtent(text, at);
  return { end: scalarEnd(text, at), plainNumbers: false };
}

/** Jumps from quote to quote, which is a search in native code; a quote behind an odd number of backslashes is none. */
export function stringEnd(text: string, at: number): number {
  for (let end = at; ; ) {
    end = text.indexOf('"', end + 1);
    if (end < 0) return -1;
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    if (((end - before) & 1) === 1) return end + 1;
  }
}

function nestedExtent(text: string, at: number): JsonExtent {
  let depth = 0;
  let plainNumbers = true;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = stringEnd(text, at);
      if (at < 0) return { end: -1, plainNumbers };
      continue;
    }
    if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
      if (depth === 0) return { end: at + 1, plainNumbers };
    } else if (isDigit(code) || code === minus) {
      const end = plainNumbers ? plainNumberEnd(text, at) : at;
      if (end > at) {
        at = end;
        continue;
      }
      plainNumbers = false;
    } else if (Number.isNaN(code)) return { end: -1, plainNumbers };
    at += 1;
  }
}

/** The end of a number that JavaScript prints as it stands there; `at` for any other number. */
function plainNumberEnd(text: string, at: number): number {
  const end = shortNumberEnd(text, at);
  if (end > at) return end;
  let last = at + 1;
  while (last < text.length && '0123456789+-.eE'.includes(text.charAt(last))) last += 1;
  const number = text.slice(at, last);
  return String(Number(number)) === number ? last : at;
}

/**
 * The end of a number that needs no closer look: an integer of at most 15 digits, or a fraction of at most 7 + 6 digits
 * that does not end in 0 (15 significant digits; no exponent from 0.000001 up). `at` for any other number.
 */
function shortNumberEnd(text: string, at: number): number {
  const whole = text.charCodeAt(at) === minus ? at + 1 : at;
  const dot = digitsEnd(text, whole);
  const wholeDigits = dot - whole;
  const code = text.charCodeAt(dot);
  if (code !== 0x2e) {
    const leadingZero = text.charCodeAt(whole) === zero && (wholeDigits > 1 || whole > at);
    return wholeDigits > 15 || leadingZero || isExponent(code) ? at : dot;
  }
  const end = digitsEnd(text, dot + 1);
  const fractionDigits = end - dot - 1;
  const plain = wholeDigits <= 7 && fractionDigits <= 6 && text.charCodeAt(end - 1) !== zero;
  return plain && !isExponent(text.charCodeAt(end)) ? end : at;
}

function digitsEnd(text: string, at: number): number {
  let end = at;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

function isDigit(code: number): boolean {
  return code >= zero && code <= 0x39;
}

function isExponent(code: number): boolean {
  return code === 0x65 || code === 0x45;
}

function scalarEnd(text: string, at: number): number {
  let end = at;
  while (end < text.length && !',]} \n\r\t'.includes(text.charAt(end))) end += 1;
  return end === at || end === text.length ? -1 : end;
}
