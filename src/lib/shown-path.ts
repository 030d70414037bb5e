import { relative } from 'node:path';
import { isBucketAddress } from './bucket-address.ts';

/**
 * A path as a person would write it: from the working directory or absolute, whichever is shorter. A name that begins with
 * a dash gets `./`, because a command would read it as a flag. The address of a bucket stays as it is.
 */
export function shownPath(path: string, workingFolder: string): string {
  if (isBucketAddress(path)) return path;
  const short = relative(workingFolder, path) || '.';
  if (short.length > path.length) return path;
  return short.startsWith('-') ? `./${short}` : short;
}

/** A command of this program that can be typed: `asset-export verify 'my export' --quick`. */
export function commandLine(...words: readonly string[]): string {
  return ['asset-export', ...words].map(shellWord).join(' ');
}

/** A text as one word of a shell, quoted only where it must be. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
