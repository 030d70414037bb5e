import { backslash, closeBrace, closeBracket, comma, openBrace, openBracket, quote, space } from '../ascii.ts';

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
