import type { Verification } from '../pipeline/verify-export.ts';
import { byteSize, count, plural, printable } from './format-text.ts';

/** What `verify` found, for a person. */
export function verifyText({ files, rows, bytes, damage }: Verification, shown: string): string {
  if (damage.length === 0) {
    return `${shown}: all is well\n  ${plural(files, 'file')}, ${count(rows)} rows, ${byteSize(bytes)}: hashes, rows, columns and the identity agree with the manifest\n`;
  }
  const lines = damage.map(({ path, problem }) => `  ${printable(path)}: ${printable(problem)}`);
  return `${shown}: ${plural(damage.length, 'problem')}\n${lines.join('\n')}\n  Restore these files from a copy, or make them again: asset-export verify ${shown} --repair --job <job.yaml> asks for the ids of the damaged parts once more.\n`;
}
