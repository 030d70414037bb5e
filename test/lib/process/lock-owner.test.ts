import { existsSync, mkdtempSync, readdirSync, rmSync, watch } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { answersAt, openingSuffix, openLifeSocket } from '../../../src/lib/process/lock-owner.ts';

it('answers under its name while it is open, and leaves no file', async () => {
  const path = join(emptyFolder(), 'alive');
  const socket = await openLifeSocket(path);
  expect(await answersAt(path)).toBe(true);
  socket?.close();
  expect(existsSync(path)).toBe(false);
  expect(await answersAt(path)).toBe(false);
});

it('has its name only once it listens: before, it would look like the socket of a dead process', async () => {
  const folder = emptyFolder();
  const created: string[] = [];
  const watcher = watch(folder, (_, name) => created.push(name ?? ''));
  onTestFinished(() => {
    watcher.close();
  });
  const socket = await openLifeSocket(join(folder, 'alive'));
  onTestFinished(() => socket?.close());
  while (!created.includes('alive')) await once(watcher, 'change');
  expect(created[0]).toBe(`alive${openingSuffix}`);
  expect(readdirSync(folder)).toEqual(['alive']);
});

it('is opened again when a process that cleans up removes it before it listens', async () => {
  const folder = emptyFolder();
  const path = join(folder, 'alive');
  const opening = openLifeSocket(path);
  rmSync(`${path}${openingSuffix}`);
  const socket = await opening;
  onTestFinished(() => socket?.close());
  expect(await answersAt(path)).toBe(true);
});

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'life-socket-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
