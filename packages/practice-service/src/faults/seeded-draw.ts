import { createHash } from 'node:crypto';

/** Draws numbers from 0 up to 1 that depend on the text alone (mulberry32, started from a SHA-256). */
export function drawFrom(text: string): () => number {
  let state = createHash('sha256').update(text).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** The same elements in an order that the draws decide. */
export function shuffle<T>(elements: readonly T[], draw: () => number): T[] {
  return elements
    .map((element) => ({ element, place: draw() }))
    .sort((a, b) => a.place - b.place)
    .map(({ element }) => element);
}
