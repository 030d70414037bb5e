import { type FileHandle, open } from 'node:fs/promises';
import { codeOf, ExportError, messageOf } from '../../../lib/export-error.ts';
import type { IdInput } from '../id-input.ts';

/** Bytes of one read: each wakes another thread, so few are better. */
const readBytes = 262_144;

/** Bytes that go down the flow at once: what is unpacked from them is small, and what is counted as read soon is. */
const pieceBytes = 65_536;

/**
 * The bytes of an input as they lie on disk. Each piece is good until the next is asked for: all come in one buffer.
 * @throws {ExportError} `input` when it cannot be read.
 */
export async function* fileBytes(input: IdInput): AsyncGenerator<Uint8Array> {
  if (input.read !== undefined) {
    yield* inPieces(input.read());
    return;
  }
  const file = await openInput(input);
  const buffer = Buffer.allocUnsafeSlow(readBytes);
  try {
    for (;;) {
      const bytesRead = await readAt(input, file, buffer);
      if (bytesRead === 0) return;
      yield* piecesOf(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

async function* inPieces(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const block of blocks) yield* piecesOf(block);
}

function* piecesOf(block: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < block.length; start += pieceBytes) yield block.subarray(start, start + pieceBytes);
}

/** Opens an input for reading. @throws {ExportError} `input` */
export async function openInput(input: IdInput): Promise<FileHandle> {
  try {
    return await open(input.path, 'r');
  } catch (error) {
    throw unreadable(input, error);
  }
}

async function readAt(input: IdInput, file: FileHandle, buffer: Buffer): Promise<number> {
  try {
    return (await file.read(buffer, 0, buffer.length)).bytesRead;
  } catch (error) {
    throw unreadable(input, error);
  }
}

function unreadable(input: IdInput, error: unknown): ExportError {
  const code = codeOf(error);
  const why = code === 'ENOENT' ? 'no such file' : code === 'EISDIR' ? 'it is a folder' : messageOf(error);
  return new ExportError('input', `cannot read ${input.name}: ${why}`, {
    todo: 'Check that the file exists and is readable.',
    cause: error,
  });
}
