import { readdirSync, readFileSync } from 'node:fs';

/** Names in a folder of `/proc`; none of what has ended, nor where there is no `/proc`. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A file of `/proc`; empty like those. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
