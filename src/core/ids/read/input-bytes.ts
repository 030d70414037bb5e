import { createHash } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { decompress } from '../../../lib/decompress.ts';
import { codeOf, ExportError, messageOf } from '../../../lib/export-error.ts';
import type { IdInput } from '../id-input.ts';
import { factsOfBytes } from '../../../lib/hash/sha256.ts';

export interface InputBytesOptions {
  /** When given, the bytes read are checked against it. */
  readonly expected?: InputFingerprint | undefined;
  /** Told what was read, at its end. */
  readonly onFingerprint?: ((fingerprint: InputFingerprint) => void) | undefined;
  /** Told how many more bytes of the file, as it lies on disk, were read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/**
 * The bytes of an input, decompressed.
 * @throws {ExportError} `input` when it cannot be read or decompressed; with `expected`, when it is no longer what it
 *   was: before the first byte if its size tells, else at its end.
 */
export async function* inputBytes(input: IdInput, options: InputBytesOptions = {}): AsyncGenerator<Uint8Array> {
  try {
    yield* decompress(checkedBytes(input, options), input.compression);
  } catch (error) {
    if (error instanceof ExportError) throw error;
    throw new ExportError('input', `cannot decompress ${input.name}: ${messageOf(error)}`, {
      todo: `It is read as ${input.compression} and is damaged or truncated; copy or create it again.`,
      cause: error,
    });
  }
}

async function* checkedBytes(
  input: IdInput,
  { expected, onBytes, onFingerprint }: InputBytesOptions,
): AsyncGenerator<Uint8Array> {
  if (expected !== undefined) await checkSize(input, expected);
  const hash = expected === undefined && onFingerprint === undefined ? undefined : createHash('sha256');
  let bytes = 0;
  for await (const piece of fileBytes(input)) {
    hash?.update(piece);
    bytes += piece.length;
    onBytes?.(piece.length);
    yield piece;
  }
  if (hash === undefined) return;
  const sha256 = hash.digest('hex');
  if (expected !== undefined && sha256 !== expected.sha256) throw changed(input);
  onFingerprint?.({ name: input.name, bytes, sha256 });
}

/** Size alone, before anything is read: it shows most changes and costs nothing. */
async function checkSize(input: IdInput, expected: InputFingerprint): Promise<void> {
  const stats = await stat(input.path).catch(() => undefined);
  if (stats !== undefined && stats.size !== expected.bytes) throw changed(input);
}

/** Checks an input that is not read from beginning to end. @throws {ExportError} `input` when it changed. */
export async function checkUnchanged(input: IdInput, expected: InputFingerprint): Promise<void> {
  await checkSize(input, expected);
  const [now] = await fingerprintInputs([input]);
  if (now?.sha256 !== expected.sha256) throw changed(input);
}

function changed(input: IdInput): ExportError {
  return new ExportError('input', `${input.name} changed while it was read or since the export started`, {
    todo: 'Restore the old file, or start over with --fresh.',
  });
}

/** Bytes of one read: each wakes another thread, so few are better. */
const readBytes = 262_144;

/** Bytes that go down the flow at once: what is unpacked from them is small, and what is counted as read soon is. */
const pieceBytes = 65_536;

/**
 * The bytes of an input as they lie on disk. Each piece is good until the next is asked for: all come in one buffer.
 * @throws {ExportError} `input` when it cannot be read.
 */
async function* fileBytes(input: IdInput): AsyncGenerator<Uint8Array> {
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

/** Identifies the content of an input: size and hash of the file on disk. */
export interface InputFingerprint {
  readonly name: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Reads every input once, to know it again later. @throws {ExportError} `input` when one cannot be read. */
export async function fingerprintInputs(inputs: readonly IdInput[]): Promise<InputFingerprint[]> {
  const fingerprints: InputFingerprint[] = [];
  for (const input of inputs) {
    fingerprints.push({ name: input.name, ...(await factsOfBytes(fileBytes(input))) });
  }
  return fingerprints;
}
