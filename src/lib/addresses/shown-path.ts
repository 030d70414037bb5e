import { relative } from 'node:path';
import { isBucketAddress } from './bucket-address.ts';
import { printable } from '../format-text.ts';

/**
 * A path as a person would write it: from the working directory or absolute, whichever is shorter. A name that begins with
 * a dash gets `./`, because a command would read it as a flag. The address of a bucket stays as it is. Control characters are made visible.
 */
export function shownPath(path: string, workingFolder: string): string {
  const short = isBucketAddress(path) ? path : relative(workingFolder, path) || '.';
  if (short.length > path.length) return printable(path);
  return printable(short.startsWith('-') ? `./${short}` : short);
}

/** A message with the paths in it as a person would write them from the working directory. Commands in it can still be typed. */
export function withShownPaths(message: string, workingFolder: string): string {
  if (workingFolder === '/') return message;
  const [first = '', ...others] = message.split(`${workingFolder}/`);
  return others.reduce((before, after) => {
    const isPath = /(^|[\s'"(=,:])$/.test(before) && /^[^\s/]/.test(after);
    if (!isPath) return `${before}${workingFolder}/${after}`;
    return `${before}${after.startsWith('-') ? './' : ''}${after}`;
  }, first);
}

/** A command of this program that can be typed: `asset-export verify 'my export' --quick`. */
export function commandLine(...words: readonly string[]): string {
  return ['asset-export', ...words].map(shellWord).join(' ');
}

/** A text as one word of a shell, quoted only where it must be. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
