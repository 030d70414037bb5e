/** Bytes to be compared four at a time; at least four. */
export interface WordedBytes {
  readonly words: Int32Array;
  /** The last four, of which some may be in `words` as well. */
  readonly tail: number;
  readonly length: number;
}

export function wordedBytes(bytes: Uint8Array): WordedBytes {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const words = Int32Array.from({ length: bytes.length >> 2 }, (_, index) => view.getInt32(index * 4, true));
  return { words, tail: view.getInt32(bytes.length - 4, true), length: bytes.length };
}

// The tests below are known as those for a zero byte in a word and for a byte below a bound: the sums carry into the next
// byte only behind one that is met.

/** Whether one of four bytes equals the byte that `same` repeats four times. */
export function holdsByte(four: number, same: number): boolean {
  const others = four ^ same;
  return ((others - 0x01010101) & ~others & 0x80808080) !== 0;
}

/** Whether one of four bytes is a quote, a backslash or below 0x20. */
export function holdsStop(four: number): boolean {
  return holdsByte(four, 0x22222222) || holdsByte(four, 0x5c5c5c5c) || ((four - 0x20202020) & ~four & 0x80808080) !== 0;
}
