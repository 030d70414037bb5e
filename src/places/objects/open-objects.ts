import {
  type BucketAddress,
  bucketAddressOf,
  bucketExamples,
  bucketNameProblem,
  type BucketScheme,
} from '../../lib/addresses/address-kinds.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { BucketPrefix } from './bucket-objects.ts';
import type { ObjectStore } from './object-store.ts';
import type { RetryContext } from './store-retries.ts';

export interface StoreRequest
  extends Pick<RetryContext, 'clock' | 'random' | 'abort' | 'onTrouble' | 'patienceMs' | 'endpoint'>,
    Pick<BucketPrefix, 'limitMs'> {
  /** `s3://bucket/prefix`, `gs://bucket/prefix` or `az://account/container/prefix`. It never holds credentials. */
  readonly address: string;
}

/**
 * Opens the store at an address and loads what it needs.
 * @throws {ExportError} `usage` for an address that is none, an endpoint that does not fit it, a package that is not installed
 */
export async function openObjects(request: StoreRequest): Promise<ObjectStore> {
  const { address, endpoint } = request;
  const at = bucketAddressOf(address);
  if (endpoint !== undefined && at?.scheme !== 's3') throw wrongAddress('cannot have an endpoint: only s3:// can');
  if (at === undefined) throw wrongAddress('is not that of a bucket');
  const problem = bucketNameProblem(address);
  if (problem !== undefined) throw wrongAddress(problem);
  const [bucket = ''] = at.names.slice(-1);
  return openers[at.scheme]({ ...request, bucket, prefix: at.path === '' ? '' : `${at.path}/` }, at);
}

const openers: Readonly<Record<BucketScheme, (place: BucketPrefix, address: BucketAddress) => Promise<ObjectStore>>> = {
  s3: async (place) => (await import('./s3-objects.ts')).openS3Objects(place),
  gs: async (place) => (await import('./gcs-objects.ts')).openGcsObjects(place),
  az: async (place, { names: [account = ''] }) =>
    (await import('./azure-objects.ts')).openAzureObjects({ ...place, account }),
};

function wrongAddress(problem: string): ExportError {
  return new ExportError('usage', `the address ${problem}`, {
    todo: `Give ${bucketExamples}. Credentials come from the environment.`,
  });
}
