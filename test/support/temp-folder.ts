import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A fresh folder for the running test; it goes when the test ends, however it ends. */
export async function tempFolder(): Promise<string> {
  const { path, remove } = await keptFolder();
  onTestFinished(remove);
  return path;
}

/** A fresh folder that several tests share: call `remove` in `afterAll`. */
export async function keptFolder(): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'asset-export-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
