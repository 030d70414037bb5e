import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginsAtPage, pageBytes, pageMemory } from '../../../src/lib/buffer-pool.ts';
import { type DirectFile, DirectWrites, minDirectBytes, localDisk as files } from '../../../src/places/files/disk.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const linux = process.platform === 'linux';

function bytesInPages(length: number): Uint8Array {
  const bytes = new Uint8Array(pageMemory(length), 0, length);
  for (let at = 0; at < length; at += 1) bytes[at] = (at * 31) % 251;
  return bytes;
}

/** A file whose writes do what is given; counts how often it was opened and closed. */
function fakeFile(write: (length: number) => number) {
  const counts = { opened: 0, closed: 0 };
  const file = {
    write: async (buffer: Uint8Array, _offset: number, length: number) => ({ buffer, bytesWritten: write(length) }),
    close: async () => {
      counts.closed += 1;
    },
  };
  const writes = new DirectWrites(async () => {
    counts.opened += 1;
    return file as unknown as DirectFile;
  });
  return { writes, counts };
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe.runIf(linux)('direct writes', () => {
  it('take whole pages of page memory, and leave the rest to an ordinary write', async () => {
    const { writes, counts } = fakeFile((length) => length);
    const bytes = bytesInPages(minDirectBytes + 100);
    expect(beginsAtPage(bytes)).toBe(true);
    expect(await writes.write(bytes, 0)).toBe(minDirectBytes);
    expect(await writes.write(bytes, pageBytes * 3)).toBe(minDirectBytes);
    expect(await writes.write(bytes, 5)).toBe(0);
    expect(await writes.write(bytes.subarray(1), 0)).toBe(0);
    expect(await writes.write(bytes.subarray(0, minDirectBytes - 1), 0)).toBe(0);
    expect(await writes.write(Buffer.alloc(minDirectBytes), 0)).toBe(0);
    await writes.close();
    expect(counts).toEqual({ opened: 1, closed: 1 });
  });

  it('are given up for good where the file system has none, when it is opened or written', async () => {
    const bytes = bytesInPages(minDirectBytes);
    let tried = 0;
    const unopened = new DirectWrites(() => {
      tried += 1;
      return Promise.reject(failure('EINVAL'));
    });
    const unwritten = fakeFile(() => {
      tried += 1;
      throw failure('EINVAL');
    }).writes;
    for (const writes of [unopened, unwritten]) {
      tried = 0;
      expect([await writes.write(bytes, 0), await writes.write(bytes, 0), tried]).toEqual([0, 0, 1]);
      await writes.close();
    }
  });

  it('report a full disk', async () => {
    const { writes } = fakeFile(() => {
      throw failure('ENOSPC');
    });
    await expect(writes.write(bytesInPages(minDirectBytes), 0)).rejects.toThrow('ENOSPC');
  });

  it('go to the file that is open, whatever its name leads to', async () => {
    const path = join(await tempFolder(), 'file');
    const file = await files.open(path, 'create');
    const moved = `${path}.moved`;
    await files.rename(path, moved);
    const other = await files.open(path, 'create');
    await file.write(bytesInPages(minDirectBytes));
    await Promise.all([file.close(), other.close()]);
    expect([await files.sizeOf(moved), await files.sizeOf(path)]).toEqual([minDirectBytes, 0]);
  });

  it('and ordinary ones in any order give the bytes that were written', async () => {
    const source = bytesInPages(2 * minDirectBytes);
    const piece = fc.record({
      from: fc.constantFrom(0, 0, pageBytes, 77),
      length: fc.integer({ min: 1, max: 2 * minDirectBytes - pageBytes }),
    });
    const folder = await tempFolder();
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 6 }), async (pieces) => {
        const path = join(folder, 'file');
        const file = await files.open(path, 'create');
        const blocks = pieces.map(({ from, length }) => source.subarray(from, from + length));
        let end = 0;
        for (const block of blocks) {
          await file.write(block, end);
          end += block.length;
        }
        expect(Buffer.from(await file.read(0, end)).equals(Buffer.concat(blocks))).toBe(true);
        await file.sync();
        await file.close();
        expect(readFileSync(path).equals(Buffer.concat(blocks))).toBe(true);
      }),
      { seed: 11, numRuns: 60 },
    );
  });
});
