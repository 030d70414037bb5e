import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { decompress } from '../../../lib/decompress.ts';
import { ExportError, messageOf } from '../../../lib/export-error.ts';
import { fileBytes } from './file-bytes.ts';
import { fingerprintInputs, type InputFingerprint } from '../fingerprint-inputs.ts';
import type { IdInput } from '../id-input.ts';

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
