import { describe, expect, it } from 'vitest';
import { openTally, readTally } from '../../../src/places/export/export-facts.ts';
import { exportPaths, pathIn } from '../../../src/places/export/export-folder.ts';
import { MemoryDisk } from '../../model/support/memory-disk.ts';
import { bytesAt, diskWith } from '../files/memory-files.ts';

const folder = '/out';
const path = pathIn(folder, exportPaths.callCount);

function digits(sum: number): string {
  return `${String(sum).padStart(16, '0')}\n`;
}

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
      const one = await diskWith(path, Buffer.from(digits(before)));
      const next = Buffer.from(digits(before + 1));
      const whole = await bytesAt(one.files, path);
      for (let cut = 0; cut <= next.length; cut += 1) {
        const torn = Buffer.concat([next.subarray(0, cut), whole.subarray(cut)]);
        expect(await readTally((await diskWith(path, torn)).files, path)).toBeGreaterThanOrEqual(before);
      }
    }
  });

  it('takes back what proved too much', async () => {
    const disk = await diskWith(path, Buffer.from(digits(840)));
    const count = await openTally(disk.files, path);
    await Promise.all([count.add(160), count.add(-160), count.add(8), count.add(-9)]);
    expect(count.total()).toBe(839);
    expect(await readTally(disk.files, path)).toBeGreaterThanOrEqual(839);
    await count.close();
    expect(await readTally(disk.files, path)).toBe(839);
  });

  it.each([
    [10, 9],
    [1000, 840],
    [10_160, 10_000],
  ])('that takes back from %d is never less than the %d that are left, wherever it is cut', async (before, left) => {
    for (const write of [1, 2, 3]) {
      for (let bytes = 0; bytes <= 17; bytes += 1) {
        const disk = await diskWith(path, Buffer.from(digits(before)));
        let writes = 0;
        disk.weather = ({ kind }) =>
          kind === 'write' && (writes += 1) === write
            ? { kind: 'dies', writtenShare: bytes / 17 }
            : { kind: 'happens' };
        const count = await openTally(disk.files, path);
        await count.add(left - before).catch(() => undefined);
        await count.close().catch(() => undefined);
        disk.restart();
        expect(await readTally(disk.files, path)).toBeGreaterThanOrEqual(left);
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
