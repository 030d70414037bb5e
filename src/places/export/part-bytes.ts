import { factsOfBytes } from '../../lib/hash/sha256.ts';
import type { Reads, ReadableFile } from '../files/disk.ts';

const pieceBytes = 1 << 20;

/** The first piece: most files of an export end in it, and memory for them is not to be that of a large one. */
const firstPieceBytes = 1 << 16;

const noPiece = Promise.resolve(new Uint8Array(0));

/** `reused`: a piece is good until the next one is requested. New memory for each is collected late, but streams that read ahead need it. */
export type PieceMemory = 'new' | 'reused';

/** The bytes of a file in order, as they are on disk. The next piece is read while one is processed. */
export async function* piecesOf(
  open: ReadableFile,
  memory: PieceMemory = 'new',
): AsyncGenerator<Uint8Array, void, void> {
  /** Memory that nobody reads any more: that of the piece before the one that is processed. */
  let free: Uint8Array | undefined;
  let next = open.read(0, firstPieceBytes);
  try {
    for (let position = 0; ; ) {
      const piece = await next;
      if (piece.length === 0) return;
      const isLast = piece.length < (position === 0 ? firstPieceBytes : pieceBytes);
      position += piece.length;
      next = isLast ? noPiece : open.read(position, pieceBytes, free);
      // A failure is met at the next turn; a reader that stops before leaves it unseen.
      next.catch(() => undefined);
      yield piece;
      if (memory === 'reused') free = piece;
    }
  } finally {
    // A reader that stops early closes the file: not while it is read.
    await next.catch(() => undefined);
  }
}

/** Size and SHA-256 of a file. */
export async function factsOfFile(files: Reads, path: string): ReturnType<typeof factsOfBytes> {
  const open = await files.open(path);
  try {
    return await factsOfBytes(piecesOf(open, 'reused'));
  } finally {
    await open.close();
  }
}

/** A file as readers of Parquet want it: any range of its bytes. */
export function rangesOf(open: ReadableFile, byteLength: number) {
  return {
    byteLength,
    slice: async (start: number, end = byteLength): Promise<ArrayBuffer> => {
      const bytes = await open.read(start, end - start);
      // A copy of its own: a small buffer is a view of a pool, and its slice too.
      return new Uint8Array(bytes).buffer;
    },
  };
}
