import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { openGcsObjects } from '../../../src/places/objects/gcs-objects.ts';
import type { ObjectStore } from '../../../src/places/objects/object-store.ts';
import { probeStore } from '../../../src/places/objects/open-objects.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { BucketOfTests, usualWays } from './bucket-of-tests.ts';
import { runsAll } from '../../support/lane.ts';
import { describeFaults, type StoreOptionsOfTests } from './fault-contract.ts';
import { startFaultyServer } from './faulty-server.ts';
import { serveGcs } from './gcs-bucket.ts';
import { describeListings } from './listing-contract.ts';
import { describeObjectStore } from './object-contract.ts';

const bucket = new BucketOfTests();
const server = await startFaultyServer(serveGcs(bucket, 'secret'));
afterAll(server.stop);
afterEach(() => void Object.assign(bucket.ways, usualWays));

/** Credentials of a workload outside Google: a token of its own, which the server exchanges. */
async function credentialsFor(token: string): Promise<string> {
  const folder = await tempFolder();
  await writeFile(join(folder, 'token'), token);
  const credentials = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/tests/providers/tests',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${server.endpoint}/token`,
    credential_source: { file: join(folder, 'token') },
  };
  await writeFile(join(folder, 'credentials.json'), JSON.stringify(credentials));
  return join(folder, 'credentials.json');
}

// Without one the client looks for a project in files, programs and the network.
process.env['GOOGLE_CLOUD_PROJECT'] = 'tests';
beforeEach(async () => {
  process.env['GOOGLE_APPLICATION_CREDENTIALS'] = await credentialsFor('secret');
});
const usual: StoreOptionsOfTests = { bucket: 'bucket', limitMs: 60_000, clock: systemClock, random: Math.random };
let stores = 0;

function open(how = usual): Promise<ObjectStore> {
  const prefix = `export ${(stores += 1)}/`;
  return openGcsObjects({ ...how, address: `gs://${how.bucket}/${prefix}`, prefix, apiEndpoint: server.endpoint });
}

describeListings({ name: 'Google Cloud Storage', bucket, server, open: () => open(), counts: false });

/** Elsewhere the bucket in memory and the S3 server of the tests hold these contracts. */
if (runsAll) {
  describeObjectStore({ name: 'Google Cloud Storage (bucket server of the tests)', open: () => open() });
  describeFaults({
    name: 'Google Cloud Storage (bucket server of the tests)',
    server,
    open,
    busy: [
      { status: 429, code: 'rateLimitExceeded' },
      { status: 503, code: 'backendError' },
      { status: 500, code: 'internalError' },
    ],
    expired: { status: 401, code: 'authError' },
    denied: { status: 403, code: 'forbidden' },
  });
}

it('objects in Google Cloud Storage are refused where the credentials are wrong, and fetch a token again', async () => {
  server.faults.push({ operation: 'TOKEN', fault: { status: 503, code: 'backendError' } });
  expect(await (await open()).look('one')).toBeUndefined();
  process.env['GOOGLE_APPLICATION_CREDENTIALS'] = await credentialsFor('wrong');
  await expect((await open()).look('one')).rejects.toMatchObject({
    exit: 'cannotWrite',
    message: expect.stringContaining('credentials') as string,
  });
});

it('a bucket of Google Cloud Storage where everything is overwritten does not pass the probe', async () => {
  bucket.ways.overwrites = true;
  await expect(probeStore(await open(), 'gs://bucket')).rejects.toMatchObject({ exit: 'usage' });
});
