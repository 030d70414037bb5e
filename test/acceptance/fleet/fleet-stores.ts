import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { BlobServiceClient } from '@azure/storage-blob';
import { azureConnection, servedAzurite, startAzurite } from '../../contract/objects/azurite.ts';
import { BucketOfTests } from '../../contract/objects/bucket-of-tests.ts';
import { type FaultyServer, type Refusal, startFaultyServer } from '../../contract/objects/faulty-server.ts';
import { servedRadosgw, startRadosgw } from '../../contract/objects/radosgw.ts';
import { serveS3 } from '../../contract/objects/s3-bucket.ts';
import type { ProgramOptions } from '../../support/run-program.ts';
import { folderAddress } from './folder-address.ts';

/** A store that workers share. */
export interface FleetStore {
  readonly name: string;
  /** The address of the export that belongs to a folder of a test. */
  readonly addressOf: (folder: string) => string;
  /** What a process needs to reach it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly endpoint?: string;
  /** What stands for the program; the built one unless it is given. */
  readonly program?: ProgramOptions['program'];
  /** Where its requests pass; a folder has none. */
  readonly server?: FaultyServer;
  /** How it refuses what it is too busy for. */
  readonly busy?: Refusal;
  readonly stop: () => Promise<unknown>;
}

const s3Credentials = {
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_REGION: 'us-east-1',
  AWS_EC2_METADATA_DISABLED: 'true',
};

function nameOf(folder: string): string {
  return folder.slice(1).replaceAll('/', '-');
}

function s3Store(name: string, server: FaultyServer, stop: FleetStore['stop'] = server.stop): FleetStore {
  const { endpoint } = server;
  Object.assign(process.env, s3Credentials);
  return {
    name,
    endpoint,
    server,
    stop,
    busy: { status: 503, code: 'SlowDown' },
    addressOf: (folder) => `s3://bucket/${nameOf(folder)}`,
    environment: { ...s3Credentials, ASSET_EXPORT_OUT_ENDPOINT: endpoint },
  };
}

/** A bucket in the process of the test. */
export async function bucketServer(): Promise<FleetStore> {
  return s3Store('the bucket server of the tests', await startFaultyServer(serveS3(new BucketOfTests(), 'secret')));
}

/** Ceph's gateway, or why there is none. */
export async function radosgwServer(): Promise<FleetStore | string> {
  const gateway = await startRadosgw('key', 'secret');
  if (typeof gateway === 'string') return gateway;
  const server = await startFaultyServer(servedRadosgw(gateway));
  const store = s3Store('radosgw', server, () => Promise.all([server.stop(), gateway.stop()]));
  const client = new S3Client({ endpoint: server.endpoint, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: 'bucket' }));
  client.destroy();
  return store;
}

export async function azuriteServer(): Promise<FleetStore> {
  const key = randomBytes(64).toString('base64');
  const azurite = await startAzurite('account', key);
  const server = await startFaultyServer(servedAzurite(azurite));
  const connection = azureConnection(server.endpoint, 'account', key);
  const environment = { AZURE_STORAGE_CONNECTION_STRING: connection };
  Object.assign(process.env, environment);
  await BlobServiceClient.fromConnectionString(connection).getContainerClient('bucket').create();
  return {
    name: 'Azurite',
    environment,
    server,
    busy: { status: 503, code: 'ServerBusy' },
    addressOf: (folder) => `az://account/bucket/${nameOf(folder)}`,
    stop: () => Promise.all([server.stop(), azurite.stop()]),
  };
}

const folderWorker = fileURLToPath(new URL('folder-worker.ts', import.meta.url));

/** A folder that stands for a bucket. The program takes none, so its workers run the operations themselves. */
export const folderStore: FleetStore = {
  name: 'a folder',
  addressOf: folderAddress.of,
  environment: {},
  program: ['--import', import.meta.resolve('ts-blank-space/register'), folderWorker],
  stop: () => Promise.resolve(),
};
