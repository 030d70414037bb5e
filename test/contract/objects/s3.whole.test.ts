import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import type { ObjectStore } from '../../../src/places/objects/object-store.ts';
import { probeStore } from '../../../src/places/objects/open-objects.ts';
import { openS3Objects } from '../../../src/places/objects/s3-objects.ts';
import { BucketOfTests, usualWays } from './bucket-of-tests.ts';
import { describeFaults, type StoreOptionsOfTests } from './fault-contract.ts';
import { startFaultyServer } from './faulty-server.ts';
import { allOf, bytesOf, describeObjectStore, fileOf } from './object-contract.ts';
import { describeListings } from './listing-contract.ts';
import { s3Credentials, serveS3 } from './s3-bucket.ts';

Object.assign(process.env, s3Credentials);
const bucket = new BucketOfTests();
const server = await startFaultyServer(serveS3(bucket, 'secret'));
afterAll(server.stop);
afterEach(() => void Object.assign(bucket.ways, usualWays));

let stores = 0;
const usual: StoreOptionsOfTests = { bucket: 'bucket', limitMs: 60_000, clock: systemClock, random: Math.random };

function open(how = usual): Promise<ObjectStore> {
  const prefix = `export ${(stores += 1)}/`;
  const address = `s3://${how.bucket}/${prefix}`;
  return openS3Objects({ ...how, address, prefix, endpoint: server.endpoint });
}

describeObjectStore({ name: 'S3 (bucket server of the tests)', open: () => open() });
describeListings({ name: 'S3', bucket, server, open: () => open(), counts: true });
describeFaults({
  name: 'S3 (bucket server of the tests)',
  server,
  open,
  busy: [
    { status: 503, code: 'SlowDown' },
    { status: 409, code: 'ConditionalRequestConflict' },
    { status: 500, code: 'InternalError' },
  ],
  expired: { status: 400, code: 'ExpiredToken' },
  denied: { status: 403, code: 'AccessDenied' },
});

it('objects in S3 are refused where the key is wrong', async () => {
  process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong';
  onTestFinished(() => void (process.env['AWS_SECRET_ACCESS_KEY'] = 'secret'));
  await expect((await open()).look('one')).rejects.toMatchObject({ exit: 'cannotWrite' });
});

it('objects in S3 are replaced in stores that compare tags without quotes', async () => {
  bucket.ways.bareTags = true;
  expect(await probeStore(await open(), 's3://bucket')).toMatchObject({ canReplace: true, canRemove: true });
});

it('a bucket where everything is overwritten does not pass the probe', async () => {
  bucket.ways.overwrites = true;
  await expect(probeStore(await open(), 's3://bucket')).rejects.toMatchObject({ exit: 'usage' });
});

it('a clock that is off does not keep a bucket from being used', async () => {
  bucket.ways.skewMs = 40 * 60_000;
  for (const first of ['look', 'put'] as const) {
    const store = await open();
    if (first === 'look') expect(await store.look('one')).toBeUndefined();
    expect(await store.putNew('one', await fileOf(Buffer.from('x')))).toBe('put');
    expect(await allOf(store.list(''))).toEqual([{ name: 'one', bytes: 1 }]);
  }
});

it('a clock that stays off is named, by how much', async () => {
  for (const operation of ['LOOK', 'GET', 'PUT'] as const)
    server.denied.set(operation, { status: 403, code: 'RequestTimeTooSkewed' });
  onTestFinished(() => {
    server.denied.clear();
  });
  const store = await open();
  const message = expect.stringMatching(/the clock of this machine is \d+.* the store's/) as string;
  await expect(store.look('one')).rejects.toMatchObject({ exit: 'cannotWrite', message });
  await expect(store.putNew('one', { bytes: Buffer.from('x') })).rejects.toMatchObject({
    exit: 'cannotWrite',
    message,
  });
});

it('a look that is refused has the words of the store', async () => {
  for (const operation of ['LOOK', 'GET'] as const) server.denied.set(operation, { status: 403, code: 'AccessDenied' });
  onTestFinished(() => {
    server.denied.clear();
  });
  const message = expect.stringContaining('AccessDenied: on purpose') as string;
  await expect((await open()).look('one')).rejects.toMatchObject({ exit: 'cannotWrite', message });
});

it.each([1, 2])('a bucket that does not show at once what was put does not pass the probe (%i)', async (late) => {
  bucket.ways.late = late;
  const message = expect.stringContaining('right after it was put') as string;
  await expect(probeStore(await open(), 's3://bucket')).rejects.toMatchObject({ exit: 'usage', message });
});

it('an object in S3 whose answers always break without a byte ends a read with `unavailable`', async () => {
  const store = await open({ ...usual, clock: { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() } });
  await store.putNew('one', { bytes: Buffer.from('x') });
  for (let count = 0; count < 21; count += 1) server.faults.push({ operation: 'GET', fault: 'cut' });
  await expect(bytesOf(store.read('one'))).rejects.toMatchObject({ exit: 'unavailable' });
  expect(server.faults).toEqual([]);
});

it('objects in S3 are put from files over one connection', async () => {
  const store = await open();
  const bytes = randomBytes(100_000);
  const body = await fileOf(bytes);
  await store.putNew('first', { bytes });
  const before = server.connections();
  for (let n = 0; n < 20; n += 1) expect(await store.putNew(`${n}`, body)).toBe('put');
  expect(server.connections()).toBe(before);
});
