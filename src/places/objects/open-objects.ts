import { bucketNameProblem } from '../../lib/addresses/address-kinds.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { BucketPrefix } from './bucket-objects.ts';
import type { ObjectStore } from './object-store.ts';
import type { RetryContext } from './store-retries.ts';

export interface StoreRequest
  extends Pick<RetryContext, 'clock' | 'random' | 'abort' | 'onTrouble' | 'patienceMs'>,
    Pick<BucketPrefix, 'limitMs'> {
  /** `s3://bucket/prefix`, `gs://bucket/prefix` or `az://account/container/prefix`. It never holds credentials. */
  readonly address: string;
  /** The address of an S3-compatible store. */
  readonly endpoint?: string | undefined;
}

/**
 * Opens the store at an address and loads what it needs.
 * @throws {ExportError} `usage` for an address that is none, an endpoint that does not fit it, a package that is not installed
 */
export async function openObjects(request: StoreRequest): Promise<ObjectStore> {
  const { address, endpoint } = request;
  const [, scheme, bucket = '', path = ''] = /^(\w+):\/\/([^/]*)\/?(.*)$/.exec(address) ?? [];
  if (endpoint !== undefined && scheme !== 's3') throw wrongAddress('cannot have an endpoint: only s3:// can');
  if (scheme !== 's3' && scheme !== 'gs' && scheme !== 'az')
    throw wrongAddress(
      scheme === undefined ? 'is not that of a bucket' : `begins with the unknown scheme ${scheme}://`,
    );
  const problem = bucketNameProblem(address);
  if (problem !== undefined) throw wrongAddress(problem);
  const place: BucketPrefix = { ...request, bucket, prefix: folderOf(path) };
  if (scheme === 'az') return openContainer(place, path);
  if (scheme === 's3') return (await import('./s3-objects.ts')).openS3Objects({ ...place, endpoint });
  return (await import('./gcs-objects.ts')).openGcsObjects(place);
}

async function openContainer(place: BucketPrefix, path: string): Promise<ObjectStore> {
  const [container = '', ...rest] = path.split('/');
  const { openAzureObjects } = await import('./azure-objects.ts');
  return openAzureObjects({ ...place, account: place.bucket, bucket: container, prefix: folderOf(rest.join('/')) });
}

function folderOf(path: string): string {
  return path === '' || path.endsWith('/') ? path : `${path}/`;
}

function wrongAddress(problem: string): ExportError {
  return new ExportError('usage', `the address ${problem}`, {
    todo: 'Give s3://bucket/prefix, gs://bucket/prefix or az://account/container/prefix. Credentials come from the environment.',
  });
}
