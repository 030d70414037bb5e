import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignedMemory, beginsAtPage, pageBytes } from '../../src/lib/aligned-memory.ts';
import { type DirectFile, DirectWrites } from '../../src/store/direct-writes.ts';
import { type SystemFile, wholeFile } from '../../src/store/disk-file.ts';
import { diskFileStore as files } from '../../src/store/file-store.ts';
import { tempFolder } from '../support/temp-folder.ts';

const large = 1024 * 1024;

/** Memory that begins at a page, with bytes that tell their places apart. */
function aligned(length: number): Uint8Array {
  const bytes = new Uint8Array(alignedMemory(length), 0, length);
  for (let at = 0; at < length; at += 1) bytes[at] = (at * 31 + (at >> 8)) & 0xff;
  return bytes;
}

/** A file of memory, and the lengths and positions of what was written to it in each of two ways. */
function twoWays(direct: (length: number) => number) {
  const content = Buffer.alloc(8 * large);
  const wrote: { direct: number[][]; ordinary: number[][] } = { direct: [], ordinary: [] };
  const take = (way: number[][], most: (length: number) => number) => {
    return async (...[bytes, offset, length, position]: [Uint8Array, number, number, number]) => {
      const bytesWritten = most(length);
      content.set(bytes.subarray(offset, offset + bytesWritten), position);
      way.push([bytesWritten, position]);
      return { bytesWritten, buffer: bytes };
    };
  };
  let closed = 0;
  const close = async () => {
    closed += 1;
  };
  const directFile = { write: take(wrote.direct, direct), close } as unknown as DirectFile;
  const ordinary = { write: take(wrote.ordinary, (length) => length), close } as unknown as SystemFile;
  return { content, wrote, directFile, ordinary, closed: () => closed };
}

function failing(code: string): (length: number) => number {
  return () => {
    throw Object.assign(new Error(code), { code });
  };
}

describe('direct writes', () => {
  it('take the whole pages of large writes that begin at a page, in memory and in the file', async () => {
    const { content, wrote, directFile, ordinary, closed } = twoWays((length) => length);
    const file = wholeFile('x', ordinary, new DirectWrites(async () => directFile));
    const bytes = aligned(large + 100);
    await file.write(bytes);
    await file.write(bytes.subarray(pageBytes, large));
    await file.write(bytes.subarray(pageBytes, large), 2 * large);
    await file.write(Buffer.from(bytes), 4 * large);
    await file.write(bytes.subarray(0, pageBytes), 6 * large);
    expect(wrote.direct).toEqual([
      [large, 0],
      [large - pageBytes, 2 * large],
    ]);
    expect(wrote.ordinary).toEqual([
      [100, large],
      [large - pageBytes, large + 100],
      [large + 100, 4 * large],
      [pageBytes, 6 * large],
    ]);
    expect(content.subarray(0, large + 100).equals(bytes)).toBe(true);
    await file.close();
    expect(closed()).toBe(2);
  });

  it('leave the rest to ordinary ones when the disk takes less than all', async () => {
    const { content, wrote, directFile, ordinary } = twoWays((length) => length - 512);
    const bytes = aligned(large);
    await wholeFile('x', ordinary, new DirectWrites(async () => directFile)).write(bytes);
    expect(wrote.ordinary).toEqual([[512, large - 512]]);
    expect(content.subarray(0, large).equals(bytes)).toBe(true);
  });

  it.each([
    ['cannot be opened', async () => undefined],
    ['is opened and takes none', async () => twoWays(failing('EINVAL')).directFile],
  ])('are ordinary ones where the file %s, and are asked for once', async (_, open) => {
    const { content, wrote, ordinary } = twoWays((length) => length);
    let opened = 0;
    const direct = new DirectWrites(() => {
      opened += 1;
      return open();
    });
    const file = wholeFile('x', ordinary, direct);
    const bytes = aligned(large);
    await file.write(bytes);
    await file.write(bytes);
    expect(opened).toBe(1);
    expect(wrote.ordinary).toEqual([
      [large, 0],
      [large, large],
    ]);
    expect(content.subarray(large, 2 * large).equals(bytes)).toBe(true);
    await file.close();
  });

  it('say that the disk is full as ordinary ones do', async () => {
    const { wrote, directFile, ordinary } = twoWays(failing('ENOSPC'));
    const file = wholeFile('table.csv', ordinary, new DirectWrites(async () => directFile));
    await expect(file.write(aligned(large))).rejects.toMatchObject({
      exit: 'cannotWrite',
      message: 'cannot write table.csv: no space is left on the disk (ENOSPC)',
    });
    expect(wrote.ordinary).toEqual([]);
  });

  it('to a real disk give the file that ordinary ones give, however they are cut', async () => {
    const path = join(await tempFolder(), 'file');
    const source = aligned(3 * large);
    const page = fc.nat({ max: 64 }).map((pages) => pages * pageBytes);
    const piece = fc.record({
      start: fc.oneof(page, fc.nat({ max: large })),
      length: fc.oneof(
        page.map((bytes) => bytes * 4),
        fc.nat({ max: large }),
      ),
      isAligned: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        const blocks = pieces.map(({ start, length, isAligned }) => {
          const block = source.subarray(start, start + length);
          return isAligned ? block : Buffer.from(block);
        });
        const file = await files.open(path, 'create');
        for (const block of blocks) await file.write(block);
        const all = Buffer.concat(blocks);
        expect(all.equals(await file.read(0, all.length + 1))).toBe(true);
        await file.sync();
        await file.close();
        expect(all.equals(readFileSync(path))).toBe(true);
      }),
      { seed: 11, numRuns: 60 },
    );
  });
});

describe('memory that begins at a page', () => {
  it('is told from other memory, and from places within a page', () => {
    const memory = new Uint8Array(alignedMemory(10));
    expect(beginsAtPage(memory)).toBe(true);
    expect(beginsAtPage(memory.subarray(pageBytes))).toBe(true);
    expect(beginsAtPage(memory.subarray(1))).toBe(false);
    expect(beginsAtPage(Buffer.alloc(large))).toBe(false);
  });
});
