import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { piecesOf } from '../../src/places/export/part-bytes.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { tempFolder } from '../support/temp-folder.ts';

it('keeps pieces as they are, for streams that read ahead, unless memory may be reused', async () => {
  const path = join(await tempFolder(), 'file');
  const bytes = Buffer.from(Array.from({ length: 700_000 }, (_, n) => String(n)).join());
  await writeFile(path, bytes);
  const file = await localDisk.open(path);
  const kept: Uint8Array[] = [];
  for await (const piece of piecesOf(file)) kept.push(piece);
  const copied: Uint8Array[] = [];
  for await (const piece of piecesOf(file, 'reused')) copied.push(Buffer.from(piece));
  await file.close();
  expect(kept.length).toBeGreaterThan(3);
  expect(Buffer.concat(kept).equals(bytes)).toBe(true);
  expect(Buffer.concat(copied).equals(bytes)).toBe(true);
});

it.each([0, 1, 65_535, 65_536, 65_537, 65_536 + (1 << 20), 65_537 + (1 << 20)])(
  'reads a file of %i bytes, and none of them twice',
  async (size) => {
    const path = join(await tempFolder(), 'file');
    const bytes = Buffer.from(Array.from({ length: size }, (_, at) => at % 251));
    await writeFile(path, bytes);
    const file = await localDisk.open(path);
    const asked: (readonly [position: number, length: number])[] = [];
    const read: typeof file.read = (position, length, memory) => {
      asked.push([position, length]);
      return file.read(position, length, memory);
    };
    for (const memory of ['new', 'reused'] as const) {
      const copied: Buffer[] = [];
      asked.length = 0;
      for await (const piece of piecesOf({ ...file, read }, memory)) copied.push(Buffer.from(piece));
      expect(Buffer.concat(copied).equals(bytes)).toBe(true);
      expect(new Set(asked.map(([position]) => position)).size).toBe(asked.length);
      // Memory for a small file is not that of a large one.
      if (size < 65_536) expect(asked).toEqual([[0, 65_536]]);
    }
    await file.close();
  },
);
