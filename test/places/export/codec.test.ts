import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { PieceReader } from '../../../src/wings/nights/base/line-file.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { packBlocks, PackedBlocks, packedBlockBytes } from '../../../src/places/export/codec.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** 40 blocks and a bit: texts, and in the middle bytes that do not compress. */
const text = Buffer.from(Array.from({ length: 120_000 }, (_, n) => `{"id":"asset ${n}"}\n`).join(''));
const bytes = Buffer.concat([text.subarray(0, 20 * packedBlockBytes), randomBytes(3_000_000), text]);

async function packed(change: (whole: Buffer) => Buffer = (whole) => whole) {
  const path = join(await tempFolder(), 'packed');
  const end = 10 * packedBlockBytes;
  const pieces = [packBlocks(bytes.subarray(0, end)), packBlocks(bytes.subarray(end))];
  await writeFile(path, change(Buffer.concat(pieces)));
  return { path, open: await localDisk.open(path) };
}

async function allOf(blocks: PackedBlocks): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const block of blocks.all()) pieces.push(block);
  return Buffer.concat(pieces);
}

it('packed blocks are one gzip file', async () => {
  const { path, open } = await packed();
  await open.close();
  expect(gunzipSync(await readFile(path)).equals(bytes)).toBe(true);
});

it('packed blocks are read in order, and then at any place', async () => {
  const { open } = await packed();
  const blocks = new PackedBlocks(open);
  expect((await allOf(blocks)).equals(bytes)).toBe(true);
  const file = { name: 'a', blockBytes: packedBlockBytes, block: (index: number) => blocks.block(index) };
  const reader = new PieceReader();
  for (let place = 0; place < 500; place += 1) {
    const length = 1 + ((place * 7919) % (place % 50 === 0 ? 900_000 : 3000));
    const from = (place * 1_299_709) % (bytes.length - length);
    expect((await reader.read(file, from, length)).equals(bytes.subarray(from, from + length))).toBe(true);
  }
  await open.close();
});

it.each([
  ['cut', (whole: Buffer) => whole.subarray(0, -5)],
  ['changed', (whole: Buffer) => Buffer.concat([whole.subarray(0, 200), Buffer.from('x'), whole.subarray(201)])],
  ['of another kind', () => Buffer.from('{"id":"asset"}\n'.repeat(10))],
] as const)('packed blocks that are %s are `damaged`', async (...[, change]) => {
  const { open } = await packed(change);
  await expect(allOf(new PackedBlocks(open))).rejects.toMatchObject({ exit: 'damaged' });
  await open.close();
});
