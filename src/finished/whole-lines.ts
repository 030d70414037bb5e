import { lineFeed } from '../lib/ascii.ts';

/** The same bytes, cut behind ends of lines. A last line without one gets it. */
export async function* wholeLines(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Buffer, void, void> {
  let waiting: Uint8Array[] = [];
  for await (const piece of bytes) {
    const end = piece.lastIndexOf(lineFeed) + 1;
    if (end > 0) {
      yield Buffer.concat([...waiting, piece.subarray(0, end)]);
      waiting = [];
    }
    // A copy: the piece may be used again.
    if (end < piece.length) waiting.push(Buffer.from(piece.subarray(end)));
  }
  if (waiting.length > 0) yield Buffer.concat([...waiting, Buffer.of(lineFeed)]);
}
