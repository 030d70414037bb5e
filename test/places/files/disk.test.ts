import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { localDisk as files, wholeFile } from '../../../src/places/files/disk.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** A file of the system that takes and gives as few bytes as it is told, and then fails. */
function narrowFile(sizes: readonly number[]): { file: Parameters<typeof wholeFile>[1]; content: () => Buffer } {
  let content = Buffer.alloc(0);
  let turn = 0;
  const next = (most: number): number => {
    const size = sizes[turn % sizes.length] ?? 1;
    turn += 1;
    return Math.min(most, size);
  };
  const file = {
    write: async (...[bytes, offset, length, position]: [Uint8Array, number, number, number]) => {
      const bytesWritten = next(length);
      const grown = Buffer.alloc(Math.max(content.length, position + bytesWritten));
      content.copy(grown);
      grown.set(bytes.subarray(offset, offset + bytesWritten), position);
      content = grown;
      return { bytesWritten, buffer: bytes };
    },
    read: async (...[bytes, offset, length, position]: [Uint8Array, number, number, number]) => {
      const piece = content.subarray(position, position + next(length));
      bytes.set(piece, offset);
      return { bytesRead: piece.length, buffer: bytes };
    },
  };
  return { file: file as unknown as Parameters<typeof wholeFile>[1], content: () => content };
}

describe('a file on the disk', () => {
  it('is written and read whole, however few bytes the system takes at a time', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 8 }), async (narrow, blocks) => {
        const { file, content } = narrowFile(narrow);
        const open = wholeFile('x', file);
        for (const block of blocks) await open.write(block);
        const all = Buffer.concat(blocks);
        expect(content().equals(all)).toBe(true);
        expect(Buffer.from(await open.read(0, all.length + 5)).equals(all)).toBe(true);
        expect(Buffer.from(await open.read(3, 10)).equals(all.subarray(3, 13))).toBe(true);
        const memory = new Uint8Array(12);
        const there = await open.read(3, 10, memory);
        expect(Buffer.from(there).equals(all.subarray(3, 13))).toBe(true);
        expect(there.buffer).toBe(memory.buffer);
      }),
      { seed: 3, numRuns: 200 },
    );
  });

  it('keeps its bytes when it is opened to update, and loses them when it is created', async () => {
    const path = join(await tempFolder(), 'file');
    for (const [mode, text] of [
      ['update', 'first'],
      ['update', 'FIRst'],
      ['create', 'x'],
    ] as const) {
      const file = await files.open(path, mode);
      await file.write(Buffer.from(text.slice(0, 3)), 0);
      if (mode === 'update') await file.write(Buffer.from(text.slice(3)));
      await file.sync();
      await file.close();
      expect(readFileSync(path, 'utf8')).toBe(mode === 'create' ? 'x' : text);
    }
    const file = await files.open(path, 'update');
    expect(await file.size()).toBe(1);
    await file.truncate(0);
    await file.close();
    expect(await files.sizeOf(path)).toBe(0);
  });
});

describe('the disk', () => {
  it('tells what is absent from what cannot be read', async () => {
    const folder = await tempFolder();
    const absent = join(folder, 'absent');
    expect(await files.readAll(absent)).toBeUndefined();
    expect(await files.list(absent)).toEqual([]);
    expect(await files.sizeOf(absent)).toBeUndefined();
    expect(await files.sizeOf(folder)).toBe('folder');
    writeFileSync(join(folder, 'file'), '');
    const beneath = join(folder, 'file/absent');
    expect(await files.readAll(beneath)).toBeUndefined();
    expect(await files.list(beneath)).toEqual([]);
    expect(await files.sizeOf(beneath)).toBeUndefined();
    await files.remove(absent);
    await expect(files.readAll(folder)).rejects.toMatchObject({ exit: 'cannotWrite', facts: { code: 'EISDIR' } });
    await expect(files.open(absent)).rejects.toMatchObject({ facts: { code: 'ENOENT' } });
  });

  it('makes folders of any depth, again and again, and says what stands in their place', async () => {
    const folder = await tempFolder();
    for (let turn = 0; turn < 2; turn += 1) await files.makeFolder(join(folder, 'a/b/c'));
    writeFileSync(join(folder, 'a/file'), '');
    await expect(files.makeFolder(join(folder, 'a/file/d'))).rejects.toThrow('a file has the name of this folder');
    expect(await files.list(join(folder, 'a'))).toEqual(['b', 'file']);
  });

  it('makes folders that others make at the same time', async () => {
    const folder = await tempFolder();
    for (let turn = 0; turn < 30; turn += 1) {
      const paths = Array.from({ length: 8 }, (_, n) => join(folder, `turn ${turn}`, 'a', `b${n % 3}`, 'c'));
      await Promise.all(paths.map((path) => files.makeFolder(path)));
      for (const path of paths) expect(await files.sizeOf(path)).toBe('folder');
    }
  });

  it('removes what it is told to and follows no link out of it', async () => {
    const folder = await tempFolder();
    mkdirSync(join(folder, 'kept'));
    writeFileSync(join(folder, 'kept/file'), 'kept');
    mkdirSync(join(folder, 'gone'));
    symlinkSync(join(folder, 'kept'), join(folder, 'gone/link'));
    await files.remove(join(folder, 'gone'));
    expect(existsSync(join(folder, 'gone'))).toBe(false);
    expect(readFileSync(join(folder, 'kept/file'), 'utf8')).toBe('kept');
  });

  it.skipIf(process.getuid?.() === 0)('names a folder that may not be written', async () => {
    const folder = await tempFolder();
    chmodSync(folder, 0o500);
    await expect(files.open(join(folder, 'file'), 'create')).rejects.toThrow('permission denied (EACCES)');
    chmodSync(folder, 0o700);
  });
});
