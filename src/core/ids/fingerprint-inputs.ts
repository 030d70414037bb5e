import { factsOfBytes } from '../../lib/hash/sha256.ts';
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
    fingerprints.push({ name: input.name, ...(await factsOfBytes(fileBytes(input))) });
  }
  return fingerprints;
}
