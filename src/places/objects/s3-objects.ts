import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { messageOf } from '../../lib/export-error.ts';
import { duration } from '../../lib/format-text.ts';
import { loadOptional } from '../../lib/packages/optional-packages.ts';
import {
  type BucketPrefix,
  type BucketRequests,
  createBucketObjects,
  type PutCondition,
  type PutRequest,
  withBytes,
} from './bucket-objects.ts';
import { type ObjectStore, sha256OfBody, sizeOfBody } from './object-store.ts';
import {
  answerLimitMs,
  isNetworkFailure,
  isPassingStatus,
  noBucket,
  noCredentials,
  noRegion,
  refused,
  type StoreFault,
} from './store-retries.ts';

export interface S3Place extends BucketPrefix {
  /** The address of an S3-compatible store: path style, and checksums only where S3 requires them. */
  readonly endpoint?: string | undefined;
}

/**
 * Objects of an S3 bucket. The AWS client finds and renews credentials.
 * @throws {ExportError} `usage` when its package is not installed
 */
export async function openS3Objects(place: S3Place): Promise<ObjectStore> {
  // The client would print a notice about Node 20 into the user's log.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const sdk = await loadOptional({
    what: 'an S3 bucket',
    packages: ['@aws-sdk/client-s3'],
    load: () => import('@aws-sdk/client-s3'),
  });
  return createBucketObjects(place, s3Requests(sdk, place));
}

function s3Requests(sdk: typeof import('@aws-sdk/client-s3'), place: S3Place): BucketRequests {
  const { bucket: Bucket, endpoint } = place;
  const client = new sdk.S3Client(clientConfig(place));

  async function put({ key: Key, body, stop }: PutRequest, condition: { IfNoneMatch?: string; IfMatch?: string }) {
    const sha256 = sha256OfBody(body);
    const checksum = endpoint === undefined ? { ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64') } : {};
    const about = { Bucket, Key, ContentLength: sizeOfBody(body), Metadata: { sha256 }, ...condition, ...checksum };
    return withBytes(body, stop, (Body) =>
      client.send(new sdk.PutObjectCommand({ ...about, Body }), { abortSignal: stop }),
    );
  }

  return {
    put: async (what) => {
      const { condition } = what;
      if (condition === 'always' || condition === 'absent') return put(what, newOnly(condition));
      // Ceph compares tags without their quotes.
      const bare = condition.tag.replaceAll('"', '');
      return put(what, { IfMatch: condition.tag }).catch((error: unknown) => {
        if (statusOf(error) === 412) return put(what, { IfMatch: bare });
        throw error;
      });
    },
    look: (Key, abortSignal) =>
      unlessAbsent(async () => {
        const found = await client
          .send(new sdk.HeadObjectCommand({ Bucket, Key }), { abortSignal })
          .catch(async (error: unknown) => {
            if (statusOf(error) !== 403) throw error;
            // An answer to HEAD has no words: this one has those of the store.
            await client.send(new sdk.GetObjectCommand({ Bucket, Key, Range: 'bytes=0-0' }), { abortSignal });
            return client.send(new sdk.HeadObjectCommand({ Bucket, Key }), { abortSignal });
          });
        const putAtMs = found.LastModified?.getTime();
        return { bytes: found.ContentLength ?? 0, sha256: found.Metadata?.['sha256'], tag: found.ETag ?? '', putAtMs };
      }),
    get: (Key, span, abortSignal) =>
      unlessAbsent(async () => {
        const range = span === undefined ? {} : { Range: `bytes=${span.first}-${span.last ?? ''}` };
        const { Body, ETag } = await client.send(new sdk.GetObjectCommand({ Bucket, Key, ...range }), { abortSignal });
        return { tag: ETag ?? '', blocks: (Body ?? []) as AsyncIterable<Uint8Array> };
      }),
    page: async ({ prefix, isFolder, token, stop }) => {
      const delimited = isFolder ? { Delimiter: '/' } : {};
      const input = { Bucket, Prefix: prefix, ContinuationToken: token, ...delimited };
      const page = await client.send(new sdk.ListObjectsV2Command(input), { abortSignal: stop });
      const folders = (page.CommonPrefixes ?? []).map(({ Prefix = '' }) => ({ key: Prefix, bytes: 0 }));
      const objects = (page.Contents ?? []).map(({ Key = '', Size = 0 }) => ({ key: Key, bytes: Size }));
      const all = [...folders, ...objects];
      const { IsTruncated = false, KeyCount = 0, NextContinuationToken: next = '' } = page;
      return { objects: all, next, isCut: (IsTruncated && next === '') || KeyCount > all.length };
    },
    remove: (Key, abortSignal) => client.send(new sdk.DeleteObjectCommand({ Bucket, Key }), { abortSignal }),
    statusOf,
    faultOf: (error) => faultOf(error, place.clock.now()),
  };
}

/** Without a logger the client warns on the console of every file whose put is refused: errors are told by whoever meets them. */
const silent = { debug: tellNobody, info: tellNobody, warn: tellNobody, error: tellNobody };

function tellNobody(): void {}

function clientConfig({ endpoint, limitMs = answerLimitMs }: S3Place): S3ClientConfig {
  // Retries are ours: they wait by the clock that they are given.
  const common = {
    maxAttempts: 1,
    logger: silent,
    requestHandler: { connectionTimeout: 10_000, socketTimeout: limitMs },
  };
  if (endpoint === undefined) return common;
  const whereRequired = 'WHEN_REQUIRED' as const;
  return {
    ...common,
    endpoint,
    forcePathStyle: true,
    requestChecksumCalculation: whereRequired,
    responseChecksumValidation: whereRequired,
  };
}

function newOnly(condition: Extract<PutCondition, string>): { IfNoneMatch?: string } {
  return condition === 'absent' ? { IfNoneMatch: '*' } : {};
}

async function unlessAbsent<T>(send: () => Promise<T>): Promise<T | undefined> {
  try {
    return await send();
  } catch (error) {
    if (statusOf(error) === 404 && nameOf(error) !== 'NoSuchBucket') return undefined;
    throw error;
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return undefined;
  return (error.$metadata as { httpStatusCode?: number }).httpStatusCode;
}

const passingNames = new Set([
  ...['SlowDown', 'RequestTimeout', 'TimeoutError', 'ConditionalRequestConflict', 'OperationAborted'],
]);
const expired = /^(ExpiredToken|ExpiredTokenException|RequestExpired|TokenRefreshRequired|CredentialsProviderError)$/;

/** The client has set its own clock by the answer: the next request may be signed with the right time. */
function skewed(error: unknown, nowMs: number): StoreFault {
  const { headers } = (error as { $response?: { headers: Record<string, string> } }).$response ?? {};
  const offMs = nowMs - Date.parse(headers?.['date'] ?? '');
  const off = Number.isNaN(offMs)
    ? 'wrong'
    : `${duration(Math.abs(offMs))} ${offMs < 0 ? 'behind' : 'ahead of'} the store's`;
  return {
    because: `the clock of this machine is ${off}`,
    todo: 'Set the clock, then run the same command again.',
    once: true,
  };
}

function faultOf(error: unknown, nowMs: number): StoreFault {
  const name = nameOf(error);
  const status = statusOf(error);
  const says = `${name}: ${messageOf(error)}`;
  if (name === 'RequestTimeTooSkewed') return skewed(error, nowMs);
  if (expired.test(name)) return noCredentials(says);
  if (says.includes('Region is missing')) return noRegion;
  if (passingNames.has(name) || isPassingStatus(status) || isNetworkFailure(error)) return 'passing';
  return name === 'NoSuchBucket' ? noBucket : refused(status, says);
}
