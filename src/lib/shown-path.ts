import { relative } from 'node:path';

/** A path as a person would write it: from the working directory or absolute, whichever is shorter. */
export function shownPath(path: string, workingFolder: string): string {
  const short = relative(workingFolder, path) || '.';
  return short.length <= path.length ? short : path;
}

/** A text as one word of a shell, quoted only where it must be. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
