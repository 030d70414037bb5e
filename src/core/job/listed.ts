import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** The values that one flag names with commas. */
export function listed(text: string): string[] {
  return trimmed(text.split(','));
}

/**
 * The files that one flag names with commas, unless a file is called so. Relative paths start at `folder`; commas within
 * the braces of a pattern are its own.
 */
export function listedFiles(text: string, folder: string): string[] {
  if (text !== '' && existsSync(resolve(folder, text))) return [text];
  const items = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '{') depth += 1;
    if (character === '}') depth = Math.max(0, depth - 1);
    if (character === ',' && depth === 0) items.push('');
    else items.push(`${items.pop() ?? ''}${character}`);
  }
  return trimmed(items);
}

function trimmed(items: readonly string[]): string[] {
  return items.map((item) => item.trim()).filter((item) => item !== '');
}
