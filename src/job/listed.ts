import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** The values that one flag names with commas. */
export function listed(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** The files that one flag names with commas, unless a file is called so. Relative paths start at `folder`. */
export function listedFiles(text: string, folder: string): string[] {
  return text !== '' && existsSync(resolve(folder, text)) ? [text] : listed(text);
}
