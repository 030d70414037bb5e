import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { Decompress } from 'fzstd';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteBlocks } from '../../../src/core/formats/growing-bytes.ts';
import { blockBytes, type Compression } from '../../../src/core/formats/sink.ts';
import type { Disk } from '../../../src/places/files/disk.ts';
import { openPartFile, publishFiles } from '../../../src/places/scratch/part-file.ts';
import { SeededRandom } from '../../../packages/practice-service/src/generated/seeded-random.ts';
import { MemoryDisk } from '../../model/support/memory-disk.ts';
import { bytesAt } from '../files/memory-files.ts';
import { sampledRuns } from '../../model/support/sample.ts';

const folder = '/out';
const name = 'csv/assets/part-00000.csv';
const codecs: readonly Compression[] = ['none', 'gzip', 'zstd'];

/** Reads it back with another library than the one that wrote it. */
const readers: Readonly<Record<string, (bytes: Uint8Array) => Buffer>> = {
  none: (bytes) => Buffer.from(bytes),
  gzip: (bytes) => gunzipSync(bytes),
  zstd: (bytes) => {
    const pieces: Uint8Array[] = [];
    new Decompress((piece) => pieces.push(piece)).push(bytes, true);
    return Buffer.concat(pieces);
  },
};

/** Content that compresses somewhat, over a few blocks. */
const content = ((): Buffer => {
  const random = new SeededRandom([1, 2, 3, 4]);
  const bytes = Buffer.alloc(2_500_000);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = random.below(64);
  return bytes;
})();

const block = content.subarray(0, blockBytes);

async function published(files: Disk, pieces: Iterable<Uint8Array>, codec: Compression) {
  const file = await openPartFile({ files, folder, name, codec, blockBytes });
  const blocks = new ByteBlocks(file);
  for (const piece of pieces) await blocks.write(piece);
  await blocks.end();
  const finished = await file.finish();
  await publishFiles(files, folder, [name]);
  return finished;
}

function* piecesOf(bytes: Uint8Array, cuts: readonly number[]): Generator<Uint8Array, void, void> {
  const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
  for (const [index, place] of places.entries()) if (index > 0) yield bytes.subarray(places[index - 1], place);
}

describe('a part file', () => {
  it('tells with the next write that one failed, though no block is full', async () => {
    const disk = new MemoryDisk();
    const files: Disk = {
      ...disk.files,
      open: async (path, mode) => ({
        ...(await disk.files.open(path, mode)),
        write: () => Promise.reject(new Error('the disk is full')),
      }),
    };
    const file = await openPartFile({ files, folder, name, codec: 'none', blockBytes });
    const blocks = new ByteBlocks(file);
    await blocks.write(content.subarray(0, blockBytes));
    await setImmediate();
    await expect(blocks.write(content.subarray(0, 1))).rejects.toThrow('the disk is full');
    await expect(blocks.end()).rejects.toThrow('the disk is full');
    await expect(file.finish()).rejects.toThrow('the disk is full');
    await file.discard();
  });
});

describe.each(codecs)('a part file (%s)', (codec) => {
  it('holds the same bytes however its content is cut into writes, and others can read them', async () => {
    const reference = new MemoryDisk();
    await published(reference.files, [content], codec);
    const expected = await bytesAt(reference.files, `${folder}/${name}`);
    expect(readers[codec]?.(expected).equals(content)).toBe(true);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { maxLength: 40 }), async (cuts) => {
        const { files } = new MemoryDisk();
        await published(files, piecesOf(content, cuts), codec);
        expect((await bytesAt(files, `${folder}/${name}`)).equals(expected)).toBe(true);
      }),
      { seed: 11, ...sampledRuns(32) },
    );
  });

  it('tells its length and SHA-256, also when it is empty', async () => {
    for (const pieces of [[], [new Uint8Array(0)], [content.subarray(0, 1000)], [content]]) {
      const { files } = new MemoryDisk();
      const facts = await published(files, pieces, codec);
      const bytes = await bytesAt(files, `${folder}/${name}`);
      expect(facts).toEqual({
        path: name,
        bytes: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      });
      expect(readers[codec]?.(bytes).equals(Buffer.concat(pieces))).toBe(true);
    }
  });
});

describe('a part file', () => {
  it('has no final name before it is published, and is synced by then', async () => {
    const disk = new MemoryDisk();
    const file = await openPartFile({ files: disk.files, folder, name, codec: 'none', blockBytes });
    await file.write(block);
    expect(await disk.files.readAll(`${folder}/${name}`)).toBeUndefined();
    await file.finish();
    expect(await disk.files.readAll(`${folder}/${name}`)).toBeUndefined();
    await publishFiles(disk.files, folder, [name]);
    disk.restartAfterPowerLoss(() => false);
    expect((await bytesAt(disk.files, `${folder}/${name}`)).equals(block)).toBe(true);
  });

  it('takes nothing behind a block that failed, so that it never passes for whole', async () => {
    const disk = new MemoryDisk();
    const file = await openPartFile({ files: disk.files, folder, name, codec: 'none', blockBytes });
    disk.weather = () => ({ kind: 'fails', code: 'EIO', writtenShare: 0 });
    await expect(file.write(block)).rejects.toThrow();
    disk.weather = () => ({ kind: 'happens' });
    await expect(file.write(block)).rejects.toThrow();
    await expect(file.finish()).rejects.toThrow();
    await file.discard();
  });

  it('refuses a block behind one that was not whole: a codec would make other bytes of them', async () => {
    const file = await openPartFile({ files: new MemoryDisk().files, folder, name, codec: 'gzip', blockBytes });
    await expect(file.write(content.subarray(0, blockBytes + 1))).rejects.toThrow('only the last block');
    await file.write(content.subarray(0, 5));
    await expect(file.write(block)).rejects.toThrow('only the last block');
    await file.discard();
  });

  it('on a full disk fails, gets no name, and is closed', async () => {
    const disk = new MemoryDisk();
    const file = await openPartFile({ files: disk.files, folder, name, codec: 'none', blockBytes });
    disk.weather = ({ kind }) =>
      kind === 'write' ? { kind: 'fails', code: 'ENOSPC', writtenShare: 0.3 } : { kind: 'happens' };
    await expect(file.write(block)).rejects.toMatchObject({
      exit: 'cannotWrite',
      message: expect.stringContaining('no space left on the disk') as string,
      facts: { code: 'ENOSPC' },
    });
    await file.discard();
    expect(disk.openFiles).toBe(0);
    expect(await disk.files.list(`${folder}/csv/assets`)).toEqual([]);
  });
});
