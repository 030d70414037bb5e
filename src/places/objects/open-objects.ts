import {
  type BucketAddress,
  bucketAddressOf,
  bucketExamples,
  bucketNameProblem,
  type BucketScheme,
} from '../../lib/addresses/address-kinds.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { BucketPrefix } from './bucket-objects.ts';
import { type ObjectStore, namesOf, type ObjectLook, readObjectIfThere } from './object-store.ts';
import { type RetryContext, chooseStore } from './store-retries.ts';
import { randomUUID } from 'node:crypto';

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

/**
 * Puts a few small objects under `.run/probe/` to see that the store overwrites nothing by accident, and removes them.
 * @throws {ExportError} `usage` for a store that overwrites
 */
export async function probeStore(
  store: ObjectStore,
  address: string,
): Promise<{
  /** False where the store refuses a right tag, or takes a wrong one: a part with other bytes then needs `verify --repair`. */
  readonly canReplace: boolean;
  /** False where nothing may be deleted: the probe stays. */
  readonly canRemove: boolean;
  /** When the probe was put, by the clock of the store; undefined where it does not say. */
  readonly putAtMs: number | undefined;
}> {
  const name = `.run/probe/${randomUUID()}`;
  await store.putNew(name, body('first'));
  let canRemove = false;
  const remove = async (): Promise<void> => {
    if (canRemove) return;
    // A prefix where nothing may be deleted keeps the object.
    canRemove = await store.remove([name]).then(
      () => true,
      () => false,
    );
  };
  try {
    // Requests at once go over several connections, which a store may serve by several machines.
    const reads = [1, 2].map(() => readObjectIfThere(store, name));
    const seen = [...(await Promise.all([store.look(name), ...reads])), (await namesOf(store, name))[0]];
    if (seen.includes(undefined)) throw forgets(address);
    if ((await store.putNew(name, body('second'))) === 'put') throw overwrites(address);
    const first = await store.look(name);
    const replaces = await canReplace(store, name, first);
    await remove();
    return { canReplace: replaces, canRemove, putAtMs: first?.putAtMs };
  } finally {
    await remove();
  }
}

/** A wrong tag has to be refused and a right one taken. The wrong one was right once, so its form is the store's. */
async function canReplace(store: ObjectStore, name: string, first: ObjectLook | undefined): Promise<boolean> {
  if (first === undefined || (await store.replace(name, body('third'), first.tag)) !== 'put') return false;
  return (await store.replace(name, body('fourth'), first.tag)) === 'changed';
}

function body(text: string): { readonly bytes: Uint8Array } {
  return { bytes: Buffer.from(text) };
}

function forgets(address: string): ExportError {
  return new ExportError('usage', `${address} does not show an object right after it was put`, {
    todo: 'Choose a store that is consistent: S3, Google Cloud Storage, Azure Blob Storage, Ceph, or a folder.',
  });
}

function overwrites(address: string): ExportError {
  return new ExportError('usage', `${address} overwrites objects although the request forbids it (If-None-Match: *)`, {
    todo: chooseStore,
  });
}
