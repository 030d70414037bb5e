import {
  backslash,
  carriageReturn,
  closeBrace,
  closeBracket,
  colon,
  comma,
  lineFeed,
  lowerA,
  lowerE,
  lowerF,
  lowerL,
  lowerN,
  lowerR,
  lowerS,
  lowerT,
  lowerU,
  minus,
  nine,
  openBrace,
  openBracket,
  plus,
  point,
  quote,
  space,
  tab,
  upperE,
  zero,
} from '../ascii.ts';

// The tests below are known as those for a zero byte in a word and for a byte below a bound: the sums carry into the next
// byte only behind one that is met.

/** Whether one of four bytes equals the byte that `same` repeats four times. */
function holdsByte(four: number, same: number): boolean {
  const others = four ^ same;
  return ((others - 0x01010101) & ~others & 0x80808080) !== 0;
}

/** Whether one of four bytes is a quote, a backslash or below 0x20. */
function holdsStop(four: number): boolean {
  return holdsByte(four, 0x22222222) || holdsByte(four, 0x5c5c5c5c) || ((four - 0x20202020) & ~four & 0x80808080) !== 0;
}

/** 1 for a byte that ends or breaks the plain text of a string. */
const isStop = new Uint8Array(256);
isStop.fill(1, 0, space);
isStop[quote] = 1;
isStop[backslash] = 1;

/** What may follow a backslash, except `u`. */
const escapable = new Uint8Array(256);
for (const character of '"\\/bfnrt') escapable[character.charCodeAt(0)] = 1;

const hexDigits = new Uint8Array(256);
for (const character of '0123456789abcdefABCDEF') hexDigits[character.charCodeAt(0)] = 1;

/** Deeper values are left to a parser that keeps its own stack. */
const maxDepth = 100;

/**
 * Walks JSON text in bytes. Each method begins at `at` and leaves `at` behind what it took; what it refuses may still be JSON,
 * but what it takes is (RFC 8259, given that the bytes are UTF-8).
 */
export class JsonScanner {
  /** What is read behind its end counts as a 0, which no JSON takes: so no loop has to look for the end. */
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  /** Four bytes can be read up to here. */
  readonly #lastFour: number;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#lastFour = bytes.byteLength - 4;
  }

  /** The byte at the next character that is no blank, which becomes `at`. */
  next(): number {
    const { bytes } = this;
    let byte = bytes[this.at] ?? 0;
    if (byte > space) return byte;
    let at = this.at;
    while (byte === space || byte === lineFeed || byte === carriageReturn || byte === tab) {
      at += 1;
      byte = bytes[at] ?? 0;
    }
    this.at = at;
    return byte;
  }

  string(): boolean {
    const { bytes } = this;
    let at = this.at;
    if (bytes[at] !== quote) return false;
    for (;;) {
      at = this.#plainEnd(at + 1);
      while (isStop[bytes[at] ?? 0] === 0) at += 1;
      const byte = bytes[at] ?? 0;
      if (byte === quote) break;
      if (byte !== backslash) return false;
      const end = this.#escapeEnd(at + 1);
      if (end < 0) return false;
      at = end;
    }
    this.at = at + 1;
    return true;
  }

  /** Passes bytes that say nothing inside a string, four at a time; ends at most three before the first that does. */
  #plainEnd(start: number): number {
    const view = this.#view;
    const last = this.#lastFour;
    let at = start;
    while (at <= last) {
      if (holdsStop(view.getInt32(at, true))) break;
      at += 4;
    }
    return at;
  }

  number(): boolean {
    const { bytes } = this;
    const start = bytes[this.at] === minus ? this.at + 1 : this.at;
    let at = digitsEnd(bytes, start);
    if (at === start || (bytes[start] === zero && at > start + 1)) return false;
    if (bytes[at] === point) {
      const fraction = at + 1;
      at = digitsEnd(bytes, fraction);
      if (at === fraction) return false;
    }
    if (bytes[at] === lowerE || bytes[at] === upperE) {
      at += 1;
      if (bytes[at] === plus || bytes[at] === minus) at += 1;
      const exponent = at;
      at = digitsEnd(bytes, exponent);
      if (at === exponent) return false;
    }
    this.at = at;
    return true;
  }

  /** `true`, `false` or `null`. */
  literal(): boolean {
    const { bytes, at } = this;
    const byte = bytes[at];
    const second = bytes[at + 1];
    if (byte === lowerT && second === lowerR && bytes[at + 2] === lowerU && bytes[at + 3] === lowerE) {
      this.at = at + 4;
      return true;
    }
    if (byte === lowerN && second === lowerU && bytes[at + 2] === lowerL && bytes[at + 3] === lowerL) {
      this.at = at + 4;
      return true;
    }
    if (byte !== lowerF || second !== lowerA || bytes[at + 2] !== lowerL || bytes[at + 3] !== lowerS) return false;
    this.at = at + 5;
    return bytes[at + 4] === lowerE;
  }

  /** Any value. */
  value(depth = 0): boolean {
    const byte = this.bytes[this.at] ?? 0;
    if (byte === quote) return this.string();
    if (byte === openBrace) return depth < maxDepth && this.#object(depth + 1);
    if (byte === openBracket) return depth < maxDepth && this.#array(depth + 1);
    return byte > nine ? this.literal() : this.number();
  }

  #object(depth: number): boolean {
    this.at += 1;
    if (this.next() === closeBrace) {
      this.at += 1;
      return true;
    }
    for (;;) {
      if (!this.string() || this.next() !== colon) return false;
      this.at += 1;
      this.next();
      if (!this.value(depth)) return false;
      const byte = this.next();
      this.at += 1;
      if (byte === closeBrace) return true;
      if (byte !== comma) return false;
      this.next();
    }
  }

  #array(depth: number): boolean {
    this.at += 1;
    if (this.next() === closeBracket) {
      this.at += 1;
      return true;
    }
    for (;;) {
      if (!this.value(depth)) return false;
      const byte = this.next();
      this.at += 1;
      if (byte === closeBracket) return true;
      if (byte !== comma) return false;
      this.next();
    }
  }

  /** The last place of the escape whose backslash stands before `at`; -1 when it is none. */
  #escapeEnd(at: number): number {
    const { bytes } = this;
    const byte = bytes[at] ?? 0;
    if (escapable[byte] === 1) return at;
    if (byte !== lowerU) return -1;
    for (let digit = at + 1; digit <= at + 4; digit += 1) if (hexDigits[bytes[digit] ?? 0] === 0) return -1;
    return at + 4;
  }
}

function digitsEnd(bytes: Uint8Array, at: number): number {
  let end = at;
  for (let byte = bytes[end] ?? 0; byte >= zero && byte <= nine; byte = bytes[end] ?? 0) end += 1;
  return end;
}

/**
 * Where the JSON value ends that begins at `start`, however deep it is; -1 when the bytes end first. Only quotes and brackets
 * are looked at: parsing decides whether it *is* a value.
 */
export function jsonEnd(bytes: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) {
      at = closingQuote(bytes, at + 1);
      if (depth === 0) return at < bytes.length ? at + 1 : -1;
    } else if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth <= 0) return depth === 0 ? at + 1 : at;
    } else if (depth === 0 && (byte === comma || byte <= space)) return at;
  }
  return -1;
}

/** The index of the quote that ends the string whose text begins at `start`; no less than the length where none does. */
export function closingQuote(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

/**
 * Most values that are made of one JSON text. One of two characters (`[]`) may take 300 bytes of V8's heap while it is read,
 * and when the heap is full the whole program ends.
 */
export const mostValues = 500_000;

/** How many values the JSON text from `start` up to `end` holds, except the first of each array and object. */
export function countValues(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) at = closingQuote(bytes, at + 1);
    else if (byte === comma || byte === openBracket || byte === openBrace) count += 1;
  }
  return count;
}
