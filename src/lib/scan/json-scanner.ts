import { holdsByte, holdsStop } from './four-bytes.ts';
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
  slash,
  space,
  tab,
  upperE,
  zero,
} from '../ascii.ts';

/** Of a string's bytes: they hold a comma. */
const commaMark = 1;

// What a byte means inside a string. Everything that ends or breaks a plain run has the bit `stops`.
const stops = 0x80;
const stringBytes = new Uint8Array(256);
stringBytes.fill(stops, 0, space);
stringBytes[quote] = stops;
stringBytes[backslash] = stops;
stringBytes[comma] = commaMark;

/** What may follow a backslash, except `u`. */
const escapable = new Uint8Array(256);
for (const character of '"\\/bfnrt') escapable[character.charCodeAt(0)] = 1;

const hexDigits = new Uint8Array(256);
for (const character of '0123456789abcdefABCDEF') hexDigits[character.charCodeAt(0)] = 1;

/** Deeper values are left to a parser that keeps its own stack. */
const maxDepth = 100;

/** Maximum number of cached names, over all depths; a value with more is printed again. */
const maxNames = 1000;

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
  /** Of the string that was taken last: `commaMark`, or 0. */
  marks = 0;
  /** Of the string that was taken last: it holds a backslash. */
  escaped = false;
  /** Of the string that was taken last: JSON.stringify would print it in other words, as `\\/` or `\\u0041`. */
  #oddlyEscaped = false;
  /** Set when a value is taken whose text is not the one that JSON.stringify gives: blanks, escapes, odd or repeated names. */
  reprint = false;
  /** Set when a value is taken that holds a comma or a quote. */
  separated = false;

  /** Where the names of the objects that are being read begin and end, to find those that come twice. */
  readonly #names = new Int32Array(maxNames * 2);
  #nameCount = 0;

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
    if (at !== this.at) this.reprint = true;
    this.at = at;
    return byte;
  }

  string(): boolean {
    const { bytes } = this;
    let at = this.at;
    if (bytes[at] !== quote) return false;
    this.marks = 0;
    this.escaped = false;
    this.#oddlyEscaped = false;
    for (;;) {
      at = this.#plainEnd(at + 1);
      let kind = stringBytes[bytes[at] ?? 0] ?? 0;
      while (kind < stops) {
        this.marks |= kind;
        at += 1;
        kind = stringBytes[bytes[at] ?? 0] ?? 0;
      }
      const byte = bytes[at] ?? 0;
      if (byte === quote) break;
      if (byte !== backslash) return false;
      const end = this.#escapeEnd(at + 1);
      if (end < 0) return false;
      at = end;
      this.escaped = true;
    }
    this.at = at + 1;
    return true;
  }

  /** Passes bytes that say nothing inside a string, four at a time; ends at most three before the first that does. */
  #plainEnd(start: number): number {
    const view = this.#view;
    const last = this.#lastFour;
    let at = start;
    let marks = 0;
    while (at <= last) {
      const four = view.getInt32(at, true);
      if (holdsStop(four)) break;
      if (holdsByte(four, 0x2c2c2c2c)) marks = commaMark;
      at += 4;
    }
    this.marks |= marks;
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

  /** Any value; `reprint` and `separated` are raised for what it holds. */
  value(depth = 0): boolean {
    const byte = this.bytes[this.at] ?? 0;
    if (depth === 0) this.#nameCount = 0;
    if (byte === quote) return this.#stringInside();
    if (byte === openBrace) return depth < maxDepth && this.#object(depth + 1);
    if (byte === openBracket) return depth < maxDepth && this.#array(depth + 1);
    return byte > nine ? this.literal() : this.number();
  }

  /** The same, and `reprint` and `separated` say what this value alone holds. */
  valueAlone(): boolean {
    this.reprint = false;
    this.separated = false;
    return this.value();
  }

  #stringInside(): boolean {
    if (!this.string()) return false;
    this.separated = true;
    if (this.#oddlyEscaped) this.reprint = true;
    return true;
  }

  #object(depth: number): boolean {
    this.at += 1;
    if (this.next() === closeBrace) {
      this.at += 1;
      return true;
    }
    const outerNames = this.#nameCount;
    // A bit for each name by a hash of it: only names with the same bit can be the same name.
    let names = 0;
    for (;;) {
      const start = this.at;
      if (!this.#stringInside()) return false;
      const bit = this.#nameBit(start);
      if ((names & bit) !== 0 && this.#isRepeated(start, outerNames)) this.reprint = true;
      names |= bit;
      this.#rememberName(start);
      if (this.next() !== colon) return false;
      this.at += 1;
      this.next();
      if (!this.value(depth)) return false;
      const byte = this.next();
      this.at += 1;
      if (byte === closeBrace) {
        this.#nameCount = outerNames;
        return true;
      }
      if (byte !== comma) return false;
      this.next();
    }
  }

  #nameBit(start: number): number {
    const { bytes, at } = this;
    return 1 << ((at - start + (bytes[start + 1] ?? 0) * 5 + (bytes[at - 2] ?? 0) * 11) & 31);
  }

  #rememberName(start: number): void {
    // Names like 7 come first in what JavaScript prints of an object.
    if (isDigit(this.bytes[start + 1] ?? 0) || this.#nameCount >= maxNames) this.reprint = true;
    if (this.#nameCount >= maxNames) return;
    this.#names[this.#nameCount * 2] = start;
    this.#names[this.#nameCount * 2 + 1] = this.at;
    this.#nameCount += 1;
  }

  /** Whether the name that begins at `start` and ends here is one of those remembered from `first` on. */
  #isRepeated(start: number, first: number): boolean {
    const { bytes, at } = this;
    for (let name = first; name < this.#nameCount; name += 1) {
      const other = this.#names[name * 2] ?? 0;
      if ((this.#names[name * 2 + 1] ?? 0) - other !== at - start) continue;
      let same = start;
      while (same < at && bytes[same] === bytes[other + same - start]) same += 1;
      if (same === at) return true;
    }
    return false;
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
      this.separated = true;
      this.next();
    }
  }

  /** The last place of the escape whose backslash stands before `at`; -1 when it is none. */
  #escapeEnd(at: number): number {
    const { bytes } = this;
    const byte = bytes[at] ?? 0;
    if (byte === slash || byte === lowerU) this.#oddlyEscaped = true;
    if (escapable[byte] === 1) return at;
    if (byte !== lowerU) return -1;
    for (let digit = at + 1; digit <= at + 4; digit += 1) if (hexDigits[bytes[digit] ?? 0] === 0) return -1;
    return at + 4;
  }
}

/** True for the first byte of a name that an object of JavaScript may put before the others. */
function isDigit(byte: number): boolean {
  return byte >= zero && byte <= nine;
}

function digitsEnd(bytes: Uint8Array, at: number): number {
  let end = at;
  for (let byte = bytes[end] ?? 0; byte >= zero && byte <= nine; byte = bytes[end] ?? 0) end += 1;
  return end;
}
