import { blockAt, byteAt, copy } from './memory';
import {
  backslash,
  escapes,
  hexDigit,
  isBlank,
  lowerU,
  quote,
  replaced,
  separators,
  shortEscape,
  stringEnd,
  zero,
} from './tokens';

/**
 * Texts that the answer does not hold: unescaped strings, JSON in JSON.stringify's words, `extra`. Who adds some reserves room before; where there is none, the
 * record is refused, `isFull` says why, and TypeScript gives more room or takes the long way.
 */
let end: usize = 0;
let last: usize = 0;
/** What is to be added to an address to have its place in the texts of the whole answer. */
let shift: i32 = 0;
export let isFull: bool = false;

export function beginMade(at: usize, bytes: i32, before: i32): void {
  end = at;
  last = at + bytes;
  shift = before - <i32>at;
}

export function madeEnd(): usize {
  return end;
}

export function cutMade(at: usize): void {
  end = at;
}

export function setFull(value: bool): void {
  isFull = value;
}

/** Whether so many bytes fit, and sixteen that are written though they do not count. */
export function hasRoom(bytes: usize): bool {
  if (end + bytes + 16 <= last) return true;
  isFull = true;
  return false;
}

/** `from` of a cell whose text begins here. */
export function madeFrom(at: usize): i32 {
  return ~(<i32>at + shift);
}

export function addBytes(from: usize, length: i32): void {
  copy(end, from, length);
  end += length;
}

export function addByte(byte: u32): void {
  store<u8>(end, byte);
  end += 1;
}

/** Digits of a number that is not negative. */
export function addNumber(number: i32): void {
  let power = 1;
  while (number / power >= 10) power *= 10;
  for (; power > 0; power /= 10) addByte(zero + ((number / power) % 10));
}

/** What the text of a string from `start` up to `stop` stands for. Never longer than it. Gives the marks, without that of commas. */
export function addUnescaped(start: usize, stop: usize): i32 {
  let marks = 0;
  for (let at = start; at < stop; ) {
    const block = blockAt(at);
    v128.store(end, block);
    const backslashes = i8x16.bitmask(i8x16.eq(block, i8x16.splat(0x5c)));
    const plain = <usize>(backslashes == 0 ? 16 : ctz(backslashes));
    const taken = min(plain, stop - at);
    end += taken;
    at += taken;
    if (plain >= 16 || at >= stop) continue;
    const code = codeOf(at + 1);
    at += codeBytes;
    if (isSurrogate(code)) marks |= replaced;
    marks |= marksOf(code);
    addUtf8(isSurrogate(code) ? 0xfffd : code);
  }
  return marks;
}

/** The text of a cell of CSV, in which quotes are doubled. */
export function addSingled(start: usize, stop: usize): void {
  for (let at = start; at < stop; ) {
    const block = blockAt(at);
    v128.store(end, block);
    const quotes = i8x16.bitmask(i8x16.eq(block, i8x16.splat(0x22)));
    const most = <usize>(quotes == 0 ? 16 : ctz(quotes) + 1);
    const taken = min(most, stop - at);
    end += taken;
    // The other one of two quotes is left out.
    at += quotes != 0 && taken == most ? taken + 1 : taken;
  }
}

/** Bytes that `codeOf` looked at, with the backslash. */
let codeBytes: usize = 0;

/** The character that the escape stands for whose backslash lies before `at`; a lone surrogate is itself. */
function codeOf(at: usize): u32 {
  const byte = byteAt(at);
  codeBytes = 2;
  if (byte != lowerU) return shortEscape(byte);
  codeBytes = 6;
  const code = hexCode(at + 1);
  if (code >> 10 != 0x36 || byteAt(at + 5) != backslash || byteAt(at + 6) != lowerU) return code;
  const low = hexCode(at + 7);
  if (low >> 10 != 0x37) return code;
  codeBytes = 12;
  return 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
}

function hexCode(at: usize): u32 {
  return (
    (hexDigit(byteAt(at)) << 12) |
    (hexDigit(byteAt(at + 1)) << 8) |
    (hexDigit(byteAt(at + 2)) << 4) |
    hexDigit(byteAt(at + 3))
  );
}

function isSurrogate(code: u32): bool {
  return code >> 11 == 0x1b;
}

function addUtf8(code: u32): void {
  if (code < 0x80) return addByte(code);
  if (code < 0x800) addByte(0xc0 | (code >> 6));
  else {
    if (code < 0x10000) addByte(0xe0 | (code >> 12));
    else {
      addByte(0xf0 | (code >> 18));
      addByte(0x80 | ((code >> 12) & 0x3f));
    }
    addByte(0x80 | ((code >> 6) & 0x3f));
  }
  addByte(0x80 | (code & 0x3f));
}

/** `textMarks` of a character. */
function marksOf(code: u32): i32 {
  const isEscape = code < 0x20 || code == quote || code == backslash;
  const isSeparator = code == 0x2c || code == quote || code == 0x0a || code == 0x0d;
  return (isEscape ? escapes : 0) | (isSeparator ? separators : 0);
}

/** `textMarks` of a text that was made. */
export function textMarks(start: usize, stop: usize): i32 {
  let marks = 0;
  for (let at = start; at < stop; at += 1) marks |= marksOf(load<u8>(at));
  return marks;
}

/** A value in the words of JSON.stringify. It was taken before, so that it is one; and no name comes twice or begins with a digit. Never longer than it was. */
export function addReprinted(start: usize, stop: usize): void {
  for (let at = start; at < stop; ) {
    const byte = byteAt(at);
    if (byte == quote) {
      const behind = stringEnd(at);
      addCanonical(at + 1, behind - 1);
      at = behind;
      continue;
    }
    if (!isBlank(byte)) addByte(byte);
    at += 1;
  }
}

function addCanonical(start: usize, stop: usize): void {
  addByte(quote);
  for (let at = start; at < stop; ) {
    if (byteAt(at) != backslash) {
      addByte(byteAt(at));
      at += 1;
      continue;
    }
    const code = codeOf(at + 1);
    at += codeBytes;
    if (isSurrogate(code)) addHexEscape(code);
    else if (code < 0x20 || code == quote || code == backslash) addEscape(code);
    else addUtf8(code);
  }
  addByte(quote);
}

/** As JSON.stringify escapes a character that may not stand for itself. */
function addEscape(code: u32): void {
  const letter = letterOf(code);
  if (letter == 0) return addHexEscape(code);
  addByte(backslash);
  addByte(letter);
}

export function letterOf(code: u32): u32 {
  switch (code) {
    case 0x08:
      return 0x62;
    case 0x09:
      return 0x74;
    case 0x0a:
      return 0x6e;
    case 0x0c:
      return 0x66;
    case 0x0d:
      return 0x72;
    case quote:
    case backslash:
      return code;
    default:
      return 0;
  }
}

function addHexEscape(code: u32): void {
  addByte(backslash);
  addByte(lowerU);
  for (let shiftBy = 12; shiftBy >= 0; shiftBy -= 4) addByte(hexLetter((code >> shiftBy) & 15));
}

export function hexLetter(digit: u32): u32 {
  return digit < 10 ? zero + digit : 0x57 + digit;
}

/** Whether the text from `start` on is these bytes. */
export function holds(start: usize, other: usize, length: i32): bool {
  return memory.compare(start, other, <usize>length) == 0;
}

/** Where the text of a cell lies whose `from` is below zero. It is of the record that is being read. */
export function madeAddress(from: i32): usize {
  return <usize>(~from - shift);
}
