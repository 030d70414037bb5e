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

/** A number from 0 up to 1 that depends on the salt and the last bytes of a key of 32 bytes. It is drawn by the million. */
export function drawOfKey(salt: number, keys: Uint8Array, at: number): number {
  let mixed = salt;
  for (let index = at + 24; index < at + 32; index += 4) {
    const word =
      ((keys[index] ?? 0) << 24) |
      ((keys[index + 1] ?? 0) << 16) |
      ((keys[index + 2] ?? 0) << 8) |
      (keys[index + 3] ?? 0);
    mixed = Math.imul(mixed ^ word, 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    mixed ^= mixed >>> 16;
  }
  return (mixed >>> 0) / 0x1_0000_0000;
}

/** The same elements in an order that the draws decide. */
export function shuffle<T>(elements: readonly T[], draw: () => number): T[] {
  return elements
    .map((element) => ({ element, place: draw() }))
    .sort((a, b) => a.place - b.place)
    .map(({ element }) => element);
}
