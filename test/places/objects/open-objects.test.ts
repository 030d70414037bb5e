import { expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { openObjects } from '../../../src/places/objects/open-objects.ts';
import { bucketInFolder } from '../../support/bucket-in-folder.ts';

const open = (address: string) => openObjects({ address, clock: systemClock, random: Math.random });

it('opens buckets without a request', async () => {
  const store = bucketInFolder('a folder');
  for (const address of [
    's3://bucket/nightly',
    'gs://bucket',
    'gs://bucket/nightly/',
    'az://account/container/nightly',
  ])
    expect(Object.keys(await open(address)).sort()).toEqual(Object.keys(store).sort());
});

it.each(['gs://bucket/nightly', 'az://account/container'])('refuses an endpoint with %s', async (address) => {
  const request = { address, endpoint: 'http://127.0.0.1:1', clock: systemClock, random: Math.random };
  await expect(openObjects(request)).rejects.toMatchObject({ exit: 'usage' });
});

it.each([
  's3://',
  's3:///prefix',
  's3://key:secret@bucket/prefix',
  'gs://',
  'gs://key:secret@bucket',
  'ftp://host/folder',
  'folder',
])('refuses %s and repeats no credentials', async (address) => {
  const refused = await open(address).catch((error: unknown) => error);
  expect(refused).toMatchObject({ exit: 'usage' });
  expect(String(refused)).not.toContain('secret');
});
