import { describe, expect, it } from 'vitest';
import { noCounts, noNotes } from '../../src/store/export-facts.ts';
import { type Manifest, readManifest, writeManifest } from '../../src/store/manifest.ts';
import { MemoryDisk } from '../model/support/memory-disk.ts';
import { bytesAt, diskWith, flipped } from './memory-files.ts';

const folder = '/out';
const path = '/out/manifest.json';

const file = { path: 'csv/assets/part-00000.csv', format: 'csv', table: 'assets', part: 0, rows: 1, bytes: 10 };
const manifest: Omit<Manifest, 'version'> = {
  program: { name: 'asset-export', version: '0.1.0' },
  job: { 'ids.column': null, 'output.rowsPerPart': 100 },
  inputs: [{ name: 'ids – été.txt', bytes: 45, sha256: 'ab' }],
  counts: { ...noCounts, read: 1, exported: 1 },
  calls: 1,
  credits: 160,
  parts: 1,
  tables: { assets: { rows: 1, columns: [{ name: 'id', type: 'string', nullable: false }] } },
  files: [{ ...file, sha256: 'cd', first: 1, last: 1 }],
  drift: [{ path: 'a.b', kind: 'unknownField', count: 1, sampleId: 'x' }],
  notes: noNotes,
  commits: [{ part: 0, counts: { ...noCounts, read: 1, exported: 1 }, drift: [], notes: noNotes }],
};

async function written(value: typeof manifest): Promise<Buffer> {
  const disk = new MemoryDisk();
  await disk.files.makeFolder(folder);
  await writeManifest(disk.files, folder, value);
  disk.restartAfterPowerLoss(() => false);
  return bytesAt(disk.files, path);
}

describe('a manifest', () => {
  it('is read as it was written, and survives a loss of power as soon as it is written', async () => {
    const { files } = await diskWith(path, await written(manifest));
    expect(await readManifest(files, folder)).toEqual({ version: 1, ...manifest });
    expect(await readManifest(new MemoryDisk().files, folder)).toBeUndefined();
  });

  it('is the same bytes in whatever order its facts were put together', async () => {
    const turned = Object.fromEntries(Object.entries(manifest).reverse()) as typeof manifest;
    const files = manifest.files.map((each) => Object.fromEntries(Object.entries(each).reverse()) as typeof each);
    expect(await written({ ...turned, files })).toEqual(await written(manifest));
  });

  it('with any bit turned, any byte cut off, or one more, is damaged', async () => {
    const bytes = await written(manifest);
    const spoiled = [
      ...Array.from(bytes, (_, at) => flipped(bytes, at)),
      ...Array.from(bytes, (_, at) => bytes.subarray(0, at)),
      Buffer.concat([bytes, Buffer.from('\n')]),
      Buffer.concat([Buffer.from(' '), bytes]),
    ];
    for (const content of spoiled) {
      const { files } = await diskWith(path, content);
      await expect(readManifest(files, folder)).rejects.toMatchObject({
        exit: 'damaged',
        message: expect.stringContaining(path) as string,
      });
    }
  });

  it('of a newer version is refused with what to do', async () => {
    const { files } = await diskWith(path, Buffer.from('{"version": 2, "anything": "else"}\n'));
    await expect(readManifest(files, folder)).rejects.toMatchObject({
      exit: 'damaged',
      message: expect.stringContaining('newer version (format 2)') as string,
      todo: 'Update asset-export.',
    });
  });
});
