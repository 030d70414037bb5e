import type { OpenFile } from '../store/open-file.ts';

const pieceBytes = 1 << 20;

/** The bytes of a file in order. The next piece is read while one is looked at; its memory is filled again afterwards. */
export async function* piecesOf(open: OpenFile): AsyncGenerator<Uint8Array, void, void> {
  const memories = [Buffer.allocUnsafe(pieceBytes), Buffer.allocUnsafe(pieceBytes)] as const;
  let position = 0;
  let next = open.read(position, pieceBytes, memories[0]);
  try {
    for (let turn = 1; ; turn += 1) {
      const piece = await next;
      if (piece.length === 0) return;
      position += piece.length;
      next = open.read(position, pieceBytes, memories[turn % 2 === 0 ? 0 : 1]);
      // A failure is met at the next turn; a reader that stops before leaves it unseen.
      next.catch(() => undefined);
      yield piece;
    }
  } finally {
    // Who stops early closes the file: not while it is read.
    await next.catch(() => undefined);
  }
}
