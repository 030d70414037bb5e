import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createFolderObjects } from '../../../src/places/objects/folder-objects.ts';
import type { ObjectStore } from '../../../src/places/objects/object-store.ts';
import { probeStore } from '../../../src/places/objects/probe-store.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { allOf, bytesOf, describeObjectStore } from './object-contract.ts';

const text = (value: string): { readonly bytes: Uint8Array } => ({ bytes: Buffer.from(value) });

describeObjectStore({ name: 'folder', open: async () => createFolderObjects(join(await tempFolder(), 'export')) });

it('a folder keeps files in the making out of its list, and none when puts are done', async () => {
  const root = await tempFolder();
  const store = createFolderObjects(root);
  await store.putNew('one', text('first'));
  await writeFile(join(root, '.one.left-by-a-crash.new'), 'x');
  await symlink('nobody', join(root, '.one.turn'));
  expect(await allOf(store.list(''))).toEqual([{ name: 'one', bytes: 5 }]);
});

it('a folder says why it cannot be written', async () => {
  const root = await tempFolder();
  await writeFile(join(root, 'file'), '');
  const store = createFolderObjects(join(root, 'file'));
  await expect(store.putNew('one', text('first'))).rejects.toMatchObject({ exit: 'cannotWrite' });
  await mkdir(join(root, 'one'));
  await expect(bytesOf(createFolderObjects(root).read('one'))).rejects.toMatchObject({ exit: 'cannotWrite' });
});

it('the probe refuses a store that overwrites, and notices one that cannot replace', async () => {
  const store = createFolderObjects(await tempFolder());
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
