import { createHash } from 'node:crypto';
import { fileBytes } from './read/file-bytes.ts';
import type { IdInput } from './id-input.ts';

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
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const piece of fileBytes(input)) {
      hash.update(piece);
      bytes += piece.length;
    }
    fingerprints.push({ name: input.name, bytes, sha256: hash.digest('hex') });
  }
  return fingerprints;
}
