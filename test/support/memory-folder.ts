import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const memory = '/dev/shm';
const neededBytes = 4 * 1024 ** 3;

/**
 * Lets tests write into memory where there is room for it: what they write is gone after them, and that it lasts is proven by
 * the models, whose disk loses what was not synced. Workers inherit `TMPDIR`. Returns what takes the folder away.
 */
export function setup(): (() => void) | undefined {
  if (process.env['TMPDIR'] !== undefined || freeBytes() < neededBytes) return undefined;
  // A short name: paths of tests are shown in 80 columns, and sockets have at most 107 bytes.
  const folder = mkdtempSync(join(memory, 'ae-'));
  // Under root the server of PostgreSQL runs as another user, who has to reach its folder in this one.
  chmodSync(folder, 0o711);
  process.env['TMPDIR'] = folder;
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}

function freeBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
