import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ApiError, File, Storage } from '@google-cloud/storage';
import { messageOf } from '../../lib/export-error.ts';
import { loadOptional } from '../../lib/packages/optional-packages.ts';
import {
  type BucketPrefix,
  type BucketRequests,
  createBucketObjects,
  type PutRequest,
  type Span,
  withBytes,
} from './bucket-objects.ts';
import { type ObjectStore, sha256OfBody } from './object-store.ts';
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

export interface GcsPlace extends BucketPrefix {
  /** Another address of the service, for tests. Credentials are sent to it. STORAGE_EMULATOR_HOST gets none. */
  readonly apiEndpoint?: string | undefined;
}

/**
 * Objects of a Google Cloud Storage bucket. The client finds and renews credentials (Application Default Credentials).
 * @throws {ExportError} `usage` when its package is not installed
 */
export async function openGcsObjects(place: GcsPlace): Promise<ObjectStore> {
  const load = () => import('@google-cloud/storage');
  const sdk = await loadOptional({ what: 'a Google Cloud Storage bucket', packages: ['@google-cloud/storage'], load });
  const { apiEndpoint } = place;
  const storage = new sdk.Storage({
    // Retries are ours: they wait by the clock that they are given.
    retryOptions: { autoRetry: false },
    ...(apiEndpoint === undefined ? {} : { apiEndpoint, useAuthWithCustomEndpoint: true }),
  });
  return createBucketObjects(place, gcsRequests(storage, place));
}

function gcsRequests(storage: Storage, { bucket: name, limitMs = answerLimitMs }: GcsPlace): BucketRequests {
  const bucket = storage.bucket(name);
  return {
    put: ({ key, condition, ...sent }) => {
      const generation = condition === 'absent' ? 0 : condition === 'always' ? undefined : condition.tag;
      return upload(bucket.file(key), sent, generation);
    },
    look: (key) =>
      unlessAbsent(async () => {
        const found = readable((await bucket.file(key).getMetadata())[0]);
        const sha256 = found.metadata?.['sha256'];
        const tag = String(found.generation);
        const putAtMs = found.updated === undefined ? undefined : Date.parse(found.updated);
        return { bytes: Number(found.size), sha256: typeof sha256 === 'string' ? sha256 : undefined, tag, putAtMs };
      }),
    get: (key, span) => unlessAbsent(() => download(bucket.file(key), span, limitMs)),
    page: async ({ prefix, isFolder, token }) => {
      const more = token === undefined ? {} : { pageToken: token };
      const delimited = isFolder ? { delimiter: '/' } : {};
      const [files, next, answer] = await bucket.getFiles({ prefix, autoPaginate: false, ...delimited, ...more });
      const { prefixes = [] } = readable(answer as { prefixes?: string[] });
      const folders = prefixes.map((key) => ({ key, bytes: 0 }));
      const objects = files.map((file) => ({ key: file.name, bytes: Number(file.metadata.size) }));
      return { objects: [...folders, ...objects], next: (next as { pageToken?: string } | null)?.pageToken };
    },
    remove: (key) => bucket.file(key).delete({ ignoreNotFound: true }),
    statusOf,
    faultOf,
  };
}

/** The client takes an answer that is no JSON for a text. @throws what is retried */
function readable<T extends object>(answer: T): T {
  if (typeof answer === 'object') return answer;
  throw Object.assign(new Error('an answer that is not JSON'), { code: 200 });
}

/** @param generation the one to replace, 0 for none, undefined for any */
async function upload(
  file: File,
  { body, stop }: Pick<PutRequest, 'body' | 'stop'>,
  generation: number | string | undefined,
): Promise<void> {
  const target = file.createWriteStream({
    resumable: false,
    // The client would remove an object whose checksum is wrong.
    validation: false,
    metadata: { contentType: 'application/octet-stream', metadata: { sha256: sha256OfBody(body) } },
    ...(generation === undefined ? {} : { preconditionOpts: { ifGenerationMatch: generation } }),
  });
  await withBytes(body, stop, (bytes) => pipeline(bytes instanceof Buffer ? [bytes] : bytes, target));
}

/** The client does not notice a connection that breaks within an answer, so a shorter wait counts as one. */
const blockLimitMs = 10_000;

/** The client's own read stream has a rejection that nobody handles where an answer with an error breaks. */
async function download(file: File, span: Span | undefined, limitMs: number) {
  const range = span === undefined ? {} : { Range: `bytes=${span.first}-${span.last ?? ''}` };
  const request = file.requestStream({ uri: '', qs: { alt: 'media' }, headers: range });
  const answered = once(request, 'response');
  // A broken answer fails twice: here, and where its blocks are read.
  request.on('error', () => undefined).resume();
  const [answer] = (await answered) as [IncomingMessage];
  const {
    statusCode = 0,
    statusMessage,
    headers: { 'x-goog-generation': tag },
  } = answer;
  if (statusCode >= 300) throw Object.assign(new Error(statusMessage), { code: statusCode });
  const blocks = new PassThrough();
  pipeline(answer, blocks).catch(() => undefined);
  return {
    tag: typeof tag === 'string' ? tag : '',
    blocks: blocksInTime(Math.min(limitMs, blockLimitMs), blocks),
  };
}

async function unlessAbsent<T>(send: () => Promise<T>): Promise<T | undefined> {
  try {
    return await send();
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

/** The HTTP status of an answer with an error. */
function statusOf(error: unknown): number | undefined {
  const code = (error as Partial<ApiError> | undefined)?.code;
  return typeof code === 'number' ? code : undefined;
}

function faultOf(error: unknown): StoreFault {
  // A token is fetched by another library, whose errors have another form.
  const tokenStatus = (error as { status?: unknown } | undefined)?.status;
  const status = statusOf(error) ?? (typeof tokenStatus === 'number' ? tokenStatus : undefined);
  const says = messageOf(error);
  if (isPassingStatus(status) || isNetworkFailure(error)) return 'passing';
  if (status === 401 || typeof tokenStatus === 'number' || says.includes('credentials')) return noCredentials(says);
  return status === 404 ? noBucket : refused(status, says);
}
