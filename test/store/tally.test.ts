import { describe, expect, it } from 'vitest';
import { openTally, readTally } from '../../src/store/tally.ts';
import { exportPaths, pathIn } from '../../src/store/export-folder.ts';
import { MemoryDisk } from '../model/memory-disk.ts';
import { bytesAt, diskWith } from './memory-files.ts';

const folder = '/out';
const path = pathIn(folder, exportPaths.callCount);

describe('a tally', () => {
  it('is on the disk before a call is sent, and goes on in the next run', async () => {
    const disk = new MemoryDisk();
    await disk.files.makeFolder(pathIn(folder, exportPaths.run));
    for (const before of [0, 12]) {
      const count = await openTally(disk.files, path);
      expect(count.total()).toBe(before);
      const adding = Array.from({ length: 12 }, () => count.add(1));
      await adding[4];
      expect(await readTally(disk.files, path)).toBeGreaterThanOrEqual(before + 5);
      await Promise.all(adding);
      await count.close();
    }
    expect(await readTally(disk.files, path)).toBe(24);
    expect(disk.openFiles).toBe(0);
  });

  it('is never less than before when a write is cut, at any digit', async () => {
    for (const before of [8, 9, 19, 99, 129, 199, 999, 10_999]) {
      const one = await diskWith(path, Buffer.from(`${String(before).padStart(16, '0')}\n`));
      const next = Buffer.from(`${String(before + 1).padStart(16, '0')}\n`);
      const whole = await bytesAt(one.files, path);
      for (let cut = 0; cut <= next.length; cut += 1) {
        const torn = Buffer.concat([next.subarray(0, cut), whole.subarray(cut)]);
        expect(await readTally((await diskWith(path, torn)).files, path)).toBeGreaterThanOrEqual(before);
      }
    }
  });

  it.each(['', '\0'.repeat(17), '\n', 'x'])(
    'begins at none in a file that a loss of power left without digits (%#)',
    async (text) => {
      expect(await readTally((await diskWith(path, Buffer.from(text))).files, path)).toBe(0);
    },
  );
});
