import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localDisk, type Disk } from '../../../src/places/files/disk.ts';
import { folderPlace, sharedFolderPlace } from '../../../src/places/files/folder-place.ts';
import type { ObjectStore } from '../../../src/places/objects/object-store.ts';
import { probeStore } from '../../../src/places/objects/open-objects.ts';
import { MemoryDisk } from '../../model/support/memory-disk.ts';
import { bucketInFolder } from '../../support/bucket-in-folder.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { bytesOf, describeObjectStore, fileOf } from './object-contract.ts';

const text = (value: string): { readonly bytes: Uint8Array } => ({ bytes: Buffer.from(value) });

/** exFAT, and some disks of networks and of FUSE. */
const withoutLinks: Disk = { ...localDisk, link: async () => 'refused' };

async function placeIn(files: Disk): Promise<ObjectStore> {
  return folderPlace(files, join(await tempFolder(), 'export'));
}

describeObjectStore({ name: 'folder', open: () => placeIn(localDisk), keepsHashes: false });
describeObjectStore({
  name: 'folder on a disk without hard links',
  open: () => placeIn(withoutLinks),
  keepsHashes: false,
});
describeObjectStore({ name: 'folder of several processes', open: async () => bucketInFolder(await tempFolder()) });

describe('a folder as a place', () => {
  it('says why it cannot be written or read', async () => {
    const root = await tempFolder();
    await writeFile(join(root, 'file'), '');
    await expect(folderPlace(localDisk, join(root, 'file')).putNew('one', text('first'))).rejects.toMatchObject({
      exit: 'cannotWrite',
    });
    await mkdir(join(root, 'one'));
    await expect(bytesOf(folderPlace(localDisk, root).read('one'))).rejects.toMatchObject({ exit: 'cannotWrite' });
  });

  it('moves a body that is a file', async () => {
    const root = await tempFolder();
    const store = folderPlace(localDisk, root);
    const body = await fileOf(Buffer.from('a part'));
    await store.putAll([{ name: 'csv/assets/part-00000.csv', body }]);
    expect('file' in body && existsSync(body.file)).toBe(false);
  });

  it('does not empty what was put before', async () => {
    const disk = new MemoryDisk();
    await folderPlace(disk.files, '/out').putNew('one', text('first'));
    await folderPlace(disk.files, '/out').putNew('two', text('second'));
    expect(String(await bytesOf(folderPlace(disk.files, '/out').read('one')))).toBe('first');
  });

  it('lets one of 16 processes win that all believe to hold the lock', async () => {
    const root = await tempFolder();
    const places = Array.from({ length: 16 }, () => folderPlace(localDisk, root));
    for (let entry = 0; entry < 20; entry += 1) {
      const name = `.run/log/00000/${String(entry).padStart(6, '0')}.json`;
      const put = await Promise.all(places.map((place, n) => place.putNew(name, text(`entry of process ${n}`))));
      const winners = [...put.entries()].filter(([, how]) => how === 'put').map(([n]) => `entry of process ${n}`);
      expect(winners).toEqual([String(await bytesOf(folderPlace(localDisk, root).read(name)))]);
    }
  });

  it('shared by processes, makes a file anew that another took for one that was left', async () => {
    const root = await tempFolder();
    const emptied = new Set<string>();
    const before = async (kind: string): Promise<void> => {
      if (emptied.has(kind)) return;
      emptied.add(kind);
      await rm(join(root, '.new'), { recursive: true });
    };
    const files: Disk = {
      ...localDisk,
      link: async (from, to) => before('link').then(() => localDisk.link(from, to)),
      rename: async (from, to) => before('rename').then(() => localDisk.rename(from, to)),
    };
    const place = sharedFolderPlace(files, root, '.new');
    expect(await place.putNew('one', text('new'))).toBe('put');
    await place.put('two', text('over'));
    expect([...emptied]).toEqual(['link', 'rename']);
    expect([String(await bytesOf(place.read('one'))), String(await bytesOf(place.read('two')))]).toEqual([
      'new',
      'over',
    ]);
  });

  it('makes safe what another process put and did not sync, when the name is taken', async () => {
    const disk = new MemoryDisk();
    disk.weather = ({ kind }) => (kind === 'syncFolder' ? { kind: 'dies' } : { kind: 'happens' });
    await expect(folderPlace(disk.files, '/out').putNew('one', text('first'))).rejects.toThrow();
    disk.restart();
    expect(await folderPlace(disk.files, '/out').putNew('one', text('second'))).toBe('taken');
    disk.restartAfterPowerLoss(() => false);
    expect(String(await bytesOf(folderPlace(disk.files, '/out').read('one')))).toBe('first');
  });
});

it('the probe refuses a store that overwrites, and notices one that cannot replace', async () => {
  const store = bucketInFolder(await tempFolder());
  const overwriting: ObjectStore = { ...store, putNew: async (name, body) => (await store.put(name, body), 'put') };
  await expect(probeStore(overwriting, 's3://bucket')).rejects.toMatchObject({
    exit: 'usage',
    message: expect.stringContaining('s3://bucket') as string,
  });
  const refusing: ObjectStore = { ...store, replace: async () => 'changed' };
  expect(await probeStore(refusing, 's3://bucket')).toMatchObject({ canReplace: false });
  const careless: ObjectStore = { ...store, replace: async (name, body) => (await store.put(name, body), 'put') };
  expect(await probeStore(careless, 's3://bucket')).toMatchObject({ canReplace: false });
});
