import type { OpenFile } from '../store/open-file.ts';

const pieceBytes = 1 << 20;

/** The bytes of a file in order, as they are on disk. The next piece is read while one is processed. */
export async function* piecesOf(open: OpenFile): AsyncGenerator<Uint8Array, void, void> {
  let next = open.read(0, pieceBytes);
  try {
    for (let position = 0; ; ) {
      const piece = await next;
      if (piece.length === 0) return;
      position += piece.length;
      next = open.read(position, pieceBytes);
      // A failure is met at the next turn; a reader that stops before leaves it unseen.
      next.catch(() => undefined);
      yield piece;
    }
  } finally {
    // A reader that stops early closes the file: not while it is read.
    await next.catch(() => undefined);
  }
}

/** A file as readers of Parquet want it: any range of its bytes. */
export function rangesOf(open: OpenFile, byteLength: number) {
  return {
    byteLength,
    slice: async (start: number, end = byteLength): Promise<ArrayBuffer> => {
      const bytes = await open.read(start, end - start);
      // A copy of its own: a small buffer is a view of a pool, and its slice too.
      return new Uint8Array(bytes).buffer;
    },
  };
}
