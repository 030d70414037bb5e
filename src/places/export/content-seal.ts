import { sha256 } from '../../lib/hash/sha256.ts';
import type { Manifest } from './manifest.ts';

/**
 * Names what an export holds: the SHA-256 of its counts and its files. A repair that restores the bytes leaves it as it is, though the manifest has
 * another seal then.
 */
export function contentSeal({ counts, files }: Pick<Manifest, 'counts' | 'files'>): string {
  const { read, exported, carried, missing, invalid, duplicate, failed } = counts;
  const facts = {
    counts: [read, exported, carried, missing, invalid, duplicate, failed],
    files: files.map(({ path, rows, bytes, sha256 }) => [path, rows, bytes, sha256]),
  };
  return sha256(JSON.stringify(facts));
}
