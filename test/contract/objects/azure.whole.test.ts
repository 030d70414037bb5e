import { randomBytes } from 'node:crypto';
import { BlobServiceClient } from '@azure/storage-blob';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { openAzureObjects } from '../../../src/places/objects/azure-objects.ts';
import type { ObjectStore } from '../../../src/places/objects/object-store.ts';
import { azureConnection, servedAzurite, startAzurite } from './azurite.ts';
import { runsAll } from '../../support/lane.ts';
import { describeFaults, type StoreOptionsOfTests } from './fault-contract.ts';
import { startFaultyServer } from './faulty-server.ts';
import { describeObjectStore } from './object-contract.ts';

const key = randomBytes(64).toString('base64');
const azurite = await startAzurite('account', key);
afterAll(azurite.stop);
const server = await startFaultyServer(servedAzurite(azurite));
afterAll(server.stop);

const connection = connectionWith(key);
process.env['AZURE_STORAGE_CONNECTION_STRING'] = connection;
beforeAll(async () => {
  await BlobServiceClient.fromConnectionString(connection).getContainerClient('bucket').create();
});
const usual: StoreOptionsOfTests = { bucket: 'bucket', limitMs: 60_000, clock: systemClock, random: Math.random };
let stores = 0;

function connectionWith(accountKey: string): string {
  return azureConnection(server.endpoint, 'account', accountKey);
}

function open(how = usual, account = 'account'): Promise<ObjectStore> {
  const prefix = `export ${(stores += 1)}/`;
  return openAzureObjects({ ...how, account, address: `az://${account}/${how.bucket}/${prefix}`, prefix });
}

/** Elsewhere the bucket in memory and the S3 server of the tests hold these contracts. */
if (runsAll) {
  describeObjectStore({ name: 'Azure Blob Storage (Azurite)', open: () => open() });
  describeFaults({
    name: 'Azure Blob Storage (Azurite)',
    server,
    open,
    busy: [
      { status: 503, code: 'ServerBusy' },
      { status: 409, code: 'ContainerBeingDeleted' },
      { status: 500, code: 'OperationTimedOut' },
    ],
    expired: { status: 403, code: 'AuthenticationFailed' },
    denied: { status: 403, code: 'AuthorizationPermissionMismatch' },
  });
}

it.each([
  { name: 'a wrong key', value: connectionWith(randomBytes(64).toString('base64')), exit: 'cannotWrite' },
  { name: 'no connection string', value: 'DefaultEndpointsProtocol=secret', exit: 'usage' },
])('objects in Azure are refused with $name, which is not repeated', async ({ value, exit }) => {
  process.env['AZURE_STORAGE_CONNECTION_STRING'] = value;
  onTestFinished(() => void (process.env['AZURE_STORAGE_CONNECTION_STRING'] = connection));
  const refused = await open()
    .then((store) => store.look('one'))
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({ exit });
  expect(String(refused)).not.toContain(value.slice(-40));
});

it('the connection string has to be of the account in the address', async () => {
  const message = expect.stringContaining('"other"') as string;
  await expect(open(usual, 'other')).rejects.toMatchObject({ exit: 'usage', message });
});

it('without a connection string the identity of the environment is used', async () => {
  delete process.env['AZURE_STORAGE_CONNECTION_STRING'];
  // Looks for credentials in variables alone, and in no network.
  process.env['AZURE_TOKEN_CREDENTIALS'] = 'EnvironmentCredential';
  onTestFinished(() => void (process.env['AZURE_STORAGE_CONNECTION_STRING'] = connection));
  await expect((await open()).look('one')).rejects.toMatchObject({
    exit: 'cannotWrite',
    message: expect.stringContaining('EnvironmentCredential') as string,
  });
});
