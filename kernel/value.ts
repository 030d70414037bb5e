import { byteAt } from './memory';
import { holds } from './made';
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  isEscaped,
  isOddlyEscaped,
  literalEnd,
  next,
  nine,
  numberEnd,
  openBrace,
  openBracket,
  quote,
  setReprint,
  setSeparated,
  stringEnd,
  zero,
} from './tokens';

/** Deeper values are left to a parser that keeps its own stack. */
const maxDepth: i32 = 100;

/** Most names of the objects that are being read, over all depths. */
const maxNames: i32 = 1000;

/** Where each of them begins and ends, to find those that come twice. */
const names: usize = memory.data(8000, 16);
let nameCount: i32 = 0;

/**
 * Any value, checked. Where its text is not that of JSON.stringify for blanks or escapes, `reprint` is raised. An object that JavaScript would print otherwise (a
 * name twice, one that begins with a digit) is refused, and a name in escapes, which may be one of these.
 */
export function valueEnd(at: usize): usize {
  nameCount = 0;
  return anyEnd(at, 0);
}

function anyEnd(at: usize, depth: i32): usize {
  const byte = byteAt(at);
  if (byte == quote) return innerString(at);
  if (byte == openBrace) return depth < maxDepth ? objectEnd(at, depth + 1) : 0;
  if (byte == openBracket) return depth < maxDepth ? arrayEnd(at, depth + 1) : 0;
  return byte > nine ? literalEnd(at) : numberEnd(at);
}

function innerString(at: usize): usize {
  const end = stringEnd(at);
  setSeparated(true);
  if (isOddlyEscaped) setReprint(true);
  return end;
}

function objectEnd(start: usize, depth: i32): usize {
  let at = next(start + 1);
  if (byteAt(at) == closeBrace) return at + 1;
  const outer = nameCount;
  // A bit for each name by a hash of it: only names with the same bit can be the same name.
  let known: u64 = 0;
  for (;;) {
    const name = at;
    at = innerString(at);
    if (at == 0 || isEscaped || byteAt(name + 1) - zero < 10 || nameCount == maxNames) return 0;
    const bit = nameBit(name, at);
    if ((known & bit) != 0 && isRepeated(name, at, outer)) return 0;
    known |= bit;
    remember(name, at);
    at = next(at);
    if (byteAt(at) != colon) return 0;
    at = anyEnd(next(at + 1), depth);
    if (at == 0) return 0;
    at = next(at);
    const byte = byteAt(at);
    if (byte == closeBrace) break;
    if (byte != comma) return 0;
    at = next(at + 1);
  }
  nameCount = outer;
  return at + 1;
}

function nameBit(name: usize, end: usize): u64 {
  const one: u64 = 1;
  const place = (end - name + byteAt(name + 1) * 5 + byteAt(end - 2) * 11) & 63;
  return one << place;
}

function remember(name: usize, end: usize): void {
  const entry = names + ((<usize>nameCount) << 3);
  store<u32>(entry, <u32>name);
  store<u32>(entry + 4, <u32>end);
  nameCount += 1;
}

/** Whether a name is one of those remembered from `first` on. */
function isRepeated(name: usize, end: usize, first: i32): bool {
  for (let index = first; index < nameCount; index += 1) {
    const entry = names + ((<usize>index) << 3);
    const other = <usize>load<u32>(entry);
    const length = <usize>load<u32>(entry + 4) - other;
    if (length == end - name && holds(name, other, <i32>length)) return true;
  }
  return false;
}

function arrayEnd(start: usize, depth: i32): usize {
  let at = next(start + 1);
  if (byteAt(at) == closeBracket) return at + 1;
  for (;;) {
    at = anyEnd(at, depth);
    if (at == 0) return 0;
    at = next(at);
    const byte = byteAt(at);
    if (byte == closeBracket) break;
    if (byte != comma) return 0;
    setSeparated(true);
    at = next(at + 1);
  }
  return at + 1;
}
