import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { clientPackages, loadSdk } from '../../src/objects/load-sdk.ts';
import { openObjects } from '../../src/objects/open-objects.ts';
import { tempFolder } from '../support/temp-folder.ts';

const open = (address: string) => openObjects({ address, clock: systemClock, random: Math.random });

it('opens a folder, and buckets without a request', async () => {
  const store = await open(await tempFolder());
  expect(await store.putNew('one', { bytes: Buffer.from('x') })).toBe('put');
  for (const address of [
    's3://bucket/nightly',
    'gs://bucket',
    'gs://bucket/nightly/',
    'az://account/container/nightly',
  ])
    expect(Object.keys(await open(address)).sort()).toEqual(Object.keys(store).sort());
});

it.each(['gs://bucket/nightly', 'az://account/container', 'folder'])('refuses an endpoint with %s', async (address) => {
  const request = { address, endpoint: 'http://127.0.0.1:1', clock: systemClock, random: Math.random };
  await expect(openObjects(request)).rejects.toMatchObject({ exit: 'usage' });
});

it('prints the line that installs missing packages, in the versions that the tests use', async () => {
  const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  const names = ['@aws-sdk/client-s3', '@google-cloud/storage'] as const;
  await expect(loadSdk('a bucket', names, () => Promise.reject(missing))).rejects.toMatchObject({
    exit: 'usage',
    todo: 'npm install @aws-sdk/client-s3@3.1173.0 @google-cloud/storage@7.22.0',
  });
  const file = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  const { peerDependencies, devDependencies } = JSON.parse(file) as Record<string, Record<string, string>>;
  expect(peerDependencies).toMatchObject(clientPackages);
  expect(devDependencies).toMatchObject(clientPackages);
});

it.each([
  's3://',
  's3:///prefix',
  's3://key:secret@bucket/prefix',
  'gs://',
  'gs://key:secret@bucket',
  'ftp://host/folder',
])('refuses %s and repeats no credentials', async (address) => {
  const refused = await open(address).catch((error: unknown) => error);
  expect(refused).toMatchObject({ exit: 'usage' });
  expect(String(refused)).not.toContain('secret');
});
