import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import type { ObjectStore } from '../../../src/places/objects/object-store.ts';
import { openS3Objects } from '../../../src/places/objects/s3-objects.ts';
import { runsAll } from '../../support/lane.ts';
import { describeFaults, type StoreOptionsOfTests } from './fault-contract.ts';
import { startFaultyServer } from './faulty-server.ts';
import { describeObjectStore } from './object-contract.ts';
import { type Radosgw, servedRadosgw, startRadosgw } from './radosgw.ts';

Object.assign(process.env, {
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_REGION: 'us-east-1',
  AWS_EC2_METADATA_DISABLED: 'true',
});
const radosgw = runsAll ? await startRadosgw('key', 'secret') : 'npm run test:all tests them';
if (typeof radosgw === 'string') {
  console.warn(`object stores are not tested on Ceph: ${radosgw}`);
  it.skip(`object stores on Ceph: ${radosgw}`);
} else describe('Ceph', () => testOn(radosgw));

async function testOn(gateway: Radosgw): Promise<void> {
  const server = await startFaultyServer(servedRadosgw(gateway));
  beforeAll(async () => {
    const client = new S3Client({ endpoint: server.endpoint, forcePathStyle: true });
    await client.send(new CreateBucketCommand({ Bucket: 'bucket' }));
    client.destroy();
  });
  afterAll(async () => {
    await server.stop();
    await gateway.stop();
  });

  const usual: StoreOptionsOfTests = { bucket: 'bucket', limitMs: 60_000, clock: systemClock, random: Math.random };
  let stores = 0;
  function open(how = usual): Promise<ObjectStore> {
    const prefix = `export ${(stores += 1)}/`;
    return openS3Objects({ ...how, address: `s3://${how.bucket}/${prefix}`, prefix, endpoint: server.endpoint });
  }

  describeObjectStore({ name: 'S3 (radosgw)', open: () => open() });
  describeFaults({
    name: 'S3 (radosgw)',
    server,
    open,
    busy: [
      { status: 503, code: 'SlowDown' },
      { status: 500, code: 'InternalError' },
    ],
    expired: { status: 400, code: 'ExpiredToken' },
    denied: { status: 403, code: 'AccessDenied' },
  });
}
