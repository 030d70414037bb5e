import type { IncomingMessage } from 'node:http';
import { type BucketOfTests, groupedKeys, rangeOf } from './bucket-of-tests.ts';
import type { Answer, Operation, Refusal, ServedStore } from './faulty-server.ts';
import { isSigned } from './s3-signature.ts';

/** What its clients are told by the environment. */
export const s3Credentials = {
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_REGION: 'us-east-1',
  AWS_EC2_METADATA_DISABLED: 'true',
};

/** Serves a bucket `bucket` over S3 requests, path style, and checks their signatures. */
export function serveS3(store: BucketOfTests, secret: string): ServedStore {
  const { objects, ways } = store;

  function put({ headers }: IncomingMessage, key: string, bytes: Buffer): Answer {
    const there = objects.get(key);
    const match = headers['if-match'];
    if (!ways.overwrites) {
      if (headers['if-none-match'] === '*' && there !== undefined) return refused(412, 'PreconditionFailed');
      const tag = ways.bareTags ? there?.tag.replaceAll('"', '') : there?.tag;
      if (match !== undefined && there === undefined) return refused(404, 'NoSuchKey');
      if (match !== undefined && match !== tag) return refused(412, 'PreconditionFailed');
    }
    const { tag } = store.put(key, bytes, headers['x-amz-meta-sha256']?.toString());
    return { status: 200, headers: { etag: tag } };
  }

  function get(key: string, range: string | undefined): Answer {
    const found = objects.get(key);
    if (found === undefined || ways.late-- > 0) return refused(404, 'NoSuchKey');
    const hash = found.sha256 === undefined ? {} : { 'x-amz-meta-sha256': found.sha256 };
    const answer = rangeOf(found, range);
    const modified = { 'last-modified': new Date(Date.now() + ways.aheadMs).toUTCString() };
    return {
      ...answer,
      headers: { ...modified, etag: found.tag, 'content-length': String(answer.body.length), ...hash },
    };
  }

  function list(query: URLSearchParams): Answer {
    const { keys, next, isTruncated, keyCount } = store.page(
      query.get('prefix') ?? '',
      query.get('continuation-token') ?? '',
    );
    const grouped = groupedKeys(keys, query);
    const prefixes = grouped.folders.map(
      (name) => `<CommonPrefixes><Prefix>${escaped(name)}</Prefix></CommonPrefixes>`,
    );
    const items = grouped.objects.map(
      (key) => `<Contents><Key>${escaped(key)}</Key><Size>${objects.get(key)?.bytes.length ?? 0}</Size></Contents>`,
    );
    const token = next === undefined ? '' : `<NextContinuationToken>${escaped(next)}</NextContinuationToken>`;
    const head = `<IsTruncated>${isTruncated}</IsTruncated><KeyCount>${keyCount - keys.length + prefixes.length + items.length}</KeyCount>${token}`;
    const body = `<ListBucketResult>${head}${items.join('')}${prefixes.join('')}</ListBucketResult>`;
    return { status: 200, body };
  }

  return {
    operationOf: s3Operation,
    refusal: s3Refusal,
    answer: (request, body) => {
      const { bucket, key, query } = targetOf(request);
      if (!isSigned(request, secret)) return refused(403, 'SignatureDoesNotMatch');
      const date = new Date(Date.now() + ways.skewMs).toUTCString();
      if (isSkewed(request, Date.parse(date))) return { ...refused(403, 'RequestTimeTooSkewed'), headers: { date } };
      if (bucket !== 'bucket') return refused(404, 'NoSuchBucket');
      const operation = s3Operation(request);
      if (operation === 'LIST') return list(query);
      if (operation === 'PUT') return put(request, key, body);
      if (operation !== 'DELETE') return get(key, request.headers.range);
      objects.delete(key);
      return { status: 204 };
    },
  };
}

export function s3Operation(request: IncomingMessage): Operation {
  if (targetOf(request).key === '') return 'LIST';
  const operations: Record<string, Operation> = { PUT: 'PUT', HEAD: 'LOOK', DELETE: 'DELETE' };
  return operations[request.method ?? ''] ?? 'GET';
}

export function s3Refusal({ status, code }: Refusal): Answer {
  return { status, body: `<Error><Code>${code}</Code><Message>on purpose</Message></Error>` };
}

/** Of a signature that is not of the last 15 minutes. */
function isSkewed({ headers }: IncomingMessage, nowMs: number): boolean {
  const [, day = '', time = ''] = /^(\d{8})T(\d{6})Z$/.exec(String(headers['x-amz-date'])) ?? [];
  const [year, month, date] = [day.slice(0, 4), day.slice(4, 6), day.slice(6)].map(Number);
  const [hour, minute] = [time.slice(0, 2), time.slice(2, 4)].map(Number);
  const atMs = Date.UTC(year ?? 0, (month ?? 1) - 1, date, hour, minute);
  return Math.abs(atMs - nowMs) > 15 * 60_000;
}

function refused(status: number, code: string): Answer {
  return s3Refusal({ status, code });
}

function targetOf({ url: path = '/' }: IncomingMessage) {
  const url = new URL(path, 'http://host');
  const [, bucket, ...rest] = decodeURIComponent(url.pathname).split('/');
  return { bucket, key: rest.join('/'), query: url.searchParams };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll("'", '&apos;');
}
