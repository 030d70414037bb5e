import fc from 'fast-check';
import type { ByteScanner } from '../../src/lib/scan/split-lines.ts';

/** Sizes of successive reads; the last one repeats. */
export const readSizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 });

/** Cuts bytes into pieces of the given sizes. Each piece is overwritten once it was used: nobody may hold on to it. */
export function* inPieces(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  let start = 0;
  for (let turn = 0; start < bytes.length; turn += 1) {
    const size = sizes[Math.min(turn, sizes.length - 1)] ?? 1;
    const piece = Buffer.from(bytes.subarray(start, start + size));
    yield piece;
    piece.fill(0x23);
    start += size;
  }
}

/** Gives a scanner all bytes in pieces, and the end. */
export function scan(scanner: ByteScanner, bytes: Uint8Array, sizes: readonly number[]): void {
  for (const piece of inPieces(bytes, sizes)) scanner.push(piece);
  scanner.end();
}
