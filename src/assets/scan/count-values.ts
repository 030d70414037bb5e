import { closingQuote } from './json-end.ts';

/**
 * Most values that are made of one JSON text. One of two characters (`[]`) may take 300 bytes of V8's heap while it is read,
 * and when the heap is full the whole program ends.
 */
export const mostValues = 500_000;

/** How many values the JSON text from `start` up to `end` holds, but for the first of each array and object. */
export function countValues(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === 0x22) at = closingQuote(bytes, at + 1);
    else if (byte === 0x2c || byte === 0x5b || byte === 0x7b) count += 1;
  }
  return count;
}
