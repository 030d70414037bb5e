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
