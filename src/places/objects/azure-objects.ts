import type { Readable } from 'node:stream';
import type {
  BlobServiceClient,
  ContainerClient,
  ContainerListBlobHierarchySegmentResponse,
  RestError,
} from '@azure/storage-blob';
import { ExportError, messageOf } from '../../lib/export-error.ts';
import { loadOptional } from '../../lib/packages/optional-packages.ts';
import {
  type BucketPrefix,
  type BucketRequests,
  createBucketObjects,
  type PutCondition,
  withBytes,
} from './bucket-objects.ts';
import { type ObjectStore, sha256OfBody, sizeOfBody } from './object-store.ts';
import {
  isNetworkFailure,
  isPassingStatus,
  noBucket,
  noCredentials,
  refused,
  type StoreFault,
  answerLimitMs,
  blocksInTime,
} from './store-retries.ts';

/** `bucket` is the container. */
export interface AzurePlace extends BucketPrefix {
  readonly account: string;
}

/** Names in a page of a listing, as in the other stores. */
const maxPageSize = 1000;

const connectionVariable = 'AZURE_STORAGE_CONNECTION_STRING';

/**
 * Objects of an Azure Blob Storage container, as block blobs. Credentials are AZURE_STORAGE_CONNECTION_STRING, else what
 * the client finds and renews (DefaultAzureCredential).
 * @throws {ExportError} `usage` when a package is not installed, or the connection string is not of this account
 */
export async function openAzureObjects(place: AzurePlace): Promise<ObjectStore> {
  const connection = process.env[connectionVariable];
  const client = await (connection === undefined ? identityClient(place) : connectedClient(place, connection));
  return createBucketObjects(place, azureRequests(client.getContainerClient(place.bucket), place));
}

const what = 'an Azure Blob Storage container';

// Retries are ours: they wait by the clock that they are given.
const options = { retryOptions: { maxTries: 1 } };

async function identityClient({ account }: AzurePlace): Promise<BlobServiceClient> {
  const load = () => Promise.all([import('@azure/storage-blob'), import('@azure/identity')]);
  const [sdk, identity] = await loadOptional({ what, packages: ['@azure/storage-blob', '@azure/identity'], load });
  const credential = new identity.DefaultAzureCredential();
  return new sdk.BlobServiceClient(`https://${account}.blob.core.windows.net`, credential, options);
}

async function connectedClient({ account }: AzurePlace, connection: string): Promise<BlobServiceClient> {
  const sdk = await loadOptional({
    what,
    packages: ['@azure/storage-blob'],
    load: () => import('@azure/storage-blob'),
  });
  let client: BlobServiceClient;
  try {
    client = sdk.BlobServiceClient.fromConnectionString(connection, options);
  } catch {
    // The client's own message may repeat the key.
    throw wrongConnection('is not a connection string');
  }
  if (client.accountName === account) return client;
  throw wrongConnection(`is for the account "${client.accountName}", and the address names "${account}"`);
}

function wrongConnection(problem: string): ExportError {
  return new ExportError('usage', `${connectionVariable} ${problem}`, {
    todo: 'Correct it, or unset it: then the identity of the environment is used.',
  });
}

function azureRequests(container: ContainerClient, { limitMs = answerLimitMs }: AzurePlace): BucketRequests {
  return {
    put: ({ key, body, condition, stop }) => {
      const length = sizeOfBody(body);
      const about = { metadata: { sha256: sha256OfBody(body) }, conditions: conditionsOf(condition) };
      const blob = container.getBlockBlobClient(key);
      return withBytes(body, stop, (bytes) => blob.upload(bytes, length, { ...about, abortSignal: stop }));
    },
    look: (key, abortSignal) =>
      unlessAbsent(async () => {
        const found = await container.getBlobClient(key).getProperties({ abortSignal });
        const putAtMs = found.lastModified?.getTime();
        return { bytes: found.contentLength ?? 0, sha256: found.metadata?.['sha256'], tag: found.etag ?? '', putAtMs };
      }),
    get: (key, span) =>
      unlessAbsent(async () => {
        const count = span?.last === undefined ? undefined : span.last - span.first + 1;
        const blob = container.getBlobClient(key);
        const answer = await blob.download(span?.first ?? 0, count, { maxRetryRequests: 0 });
        return { tag: answer.etag ?? '', blocks: blocksInTime(limitMs, answer.readableStreamBody as Readable) };
      }),
    // At the borders of its partitions it sends pages without a name (List Blobs, Remarks).
    emptyPages: 100,
    page: async ({ prefix, isFolder, token, stop: abortSignal }) => {
      const from = token === undefined ? {} : { continuationToken: token };
      const blobs = isFolder
        ? container.listBlobsByHierarchy('/', { prefix, abortSignal })
        : container.listBlobsFlat({ prefix, abortSignal });
      const { segment, continuationToken } = (await blobs.byPage({ maxPageSize, ...from }).next())
        .value as ContainerListBlobHierarchySegmentResponse;
      const folders = (segment.blobPrefixes ?? []).map(({ name }) => ({ key: name, bytes: 0 }));
      const objects = segment.blobItems.map(({ name, properties }) => ({
        key: name,
        bytes: properties.contentLength ?? 0,
      }));
      return { objects: [...folders, ...objects], next: continuationToken };
    },
    remove: (key, abortSignal) => container.getBlobClient(key).deleteIfExists({ abortSignal }),
    statusOf: (error) => (error as Partial<RestError>).statusCode,
    faultOf,
  };
}

function conditionsOf(condition: PutCondition): { ifNoneMatch?: string; ifMatch?: string } {
  if (condition === 'always') return {};
  return condition === 'absent' ? { ifNoneMatch: '*' } : { ifMatch: condition.tag };
}

async function unlessAbsent<T>(send: () => Promise<T>): Promise<T | undefined> {
  try {
    return await send();
  } catch (error) {
    const { statusCode, code } = error as Partial<RestError>;
    if (statusCode === 404 && code !== 'ContainerNotFound') return undefined;
    throw error;
  }
}

const credentialNames = /^(Aggregate)?Authentication(Required)?Error$|^CredentialUnavailableError$/;
const credentialCodes = new Set(['AuthenticationFailed', 'InvalidAuthenticationInfo', 'NoAuthenticationInformation']);

function faultOf(error: unknown): StoreFault {
  const { name = '', statusCode, code = '' } = error as Partial<RestError>;
  const says = `${code === '' ? name : code}: ${messageOf(error)}`;
  // The time limits of requests abort them.
  const isLate = name === 'AbortError' || code === 'ContainerBeingDeleted';
  if (isLate || isPassingStatus(statusCode) || isNetworkFailure(error)) return 'passing';
  if (credentialNames.test(name) || credentialCodes.has(code) || statusCode === 401) return noCredentials(says);
  return code === 'ContainerNotFound' ? noBucket : refused(statusCode, says);
}
