import { lineFeed } from '../lib/ascii.ts';

/** The same bytes, cut behind ends of lines, each good until the next is requested. A last line without an end gets it. */
export async function* wholeLines(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Buffer, void, void> {
  let waiting: Uint8Array[] = [];
  for await (const piece of bytes) {
    const first = waiting.length === 0 ? 0 : piece.indexOf(lineFeed) + 1;
    if (first > 0) {
      yield Buffer.concat([...waiting, piece.subarray(0, first)]);
      waiting = [];
    }
    const end = waiting.length === 0 ? piece.lastIndexOf(lineFeed) + 1 : 0;
    if (end > first) yield Buffer.from(piece.buffer, piece.byteOffset + first, end - first);
    // A copy: the piece may be used again.
    if (end < piece.length) waiting.push(Buffer.from(piece.subarray(end)));
  }
  if (waiting.length > 0) yield Buffer.concat([...waiting, Buffer.of(lineFeed)]);
}
