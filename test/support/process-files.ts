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

/** The one process that another started. @throws where there is none: as a number it would be 0, and a signal to 0 ends whoever sends it */
export function childOf(pid: number | undefined): number {
  const child = Number(textOf(`/proc/${pid}/task/${pid}/children`));
  if (!(child > 0)) throw new Error(`process ${pid} has no child`);
  return child;
}
