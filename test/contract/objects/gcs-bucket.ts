import type { IncomingMessage } from 'node:http';
import { type BucketOfTests, groupedKeys, rangeOf, type Stored } from './bucket-of-tests.ts';
import type { Answer, Operation, ServedStore } from './faulty-server.ts';

/** What the server of tests gives out as an access token, and takes. */
const accessToken = 'access-token-of-tests';

/**
 * Serves a bucket `bucket` over requests of the JSON API of Google Cloud Storage, and tokens for `secret` at `/token`.
 * Requests without such a token are refused.
 */
export function serveGcs(store: BucketOfTests, secret: string): ServedStore {
  const { objects, ways } = store;

  function put(query: URLSearchParams, { headers }: IncomingMessage, bytes: Buffer): Answer {
    const key = query.get('name') ?? '';
    const wanted = query.get('ifGenerationMatch');
    if (!ways.overwrites && wanted !== null && wanted !== (objects.get(key)?.generation ?? '0')) {
      return refused(412, 'conditionNotMet');
    }
    const { metadata, content } = partsOf(headers['content-type'] ?? '', bytes);
    return json(resourceOf(key, store.put(key, content, metadata.sha256)));
  }

  function get(key: string, query: URLSearchParams, range: string | undefined): Answer {
    const found = objects.get(key);
    if (found === undefined) return refused(404, 'notFound');
    if (query.get('alt') !== 'media') return json(resourceOf(key, found));
    return { ...rangeOf(found, range), headers: { 'x-goog-generation': found.generation } };
  }

  function list(query: URLSearchParams): Answer {
    const { keys, next } = store.page(query.get('prefix') ?? '', query.get('pageToken') ?? '');
    const grouped = groupedKeys(keys, query);
    const items = [...objects]
      .filter(([key]) => grouped.objects.includes(key))
      .map(([key, stored]) => resourceOf(key, stored));
    items.sort((one, other) => keys.indexOf(one.name) - keys.indexOf(other.name));
    return json({ items, prefixes: grouped.folders, nextPageToken: next });
  }

  return {
    operationOf: gcsOperation,
    refusal: ({ status, code }) => refused(status, code),
    answer: (request, body) => {
      const { bucket, key, query } = targetOf(request);
      const operation = gcsOperation(request);
      if (operation === 'TOKEN') return tokenFor(String(body), secret);
      if (request.headers.authorization !== `Bearer ${accessToken}`) return refused(401, 'authError');
      if (bucket !== 'bucket') return refused(404, 'notFound');
      if (operation === 'LIST') return list(query);
      if (operation === 'PUT') return put(query, request, body);
      if (operation !== 'DELETE') return get(key, query, request.headers.range);
      return objects.delete(key) ? { status: 204 } : refused(404, 'notFound');
    },
  };
}

function gcsOperation(request: IncomingMessage): Operation {
  const { key, query, path } = targetOf(request);
  if (path === '/token') return 'TOKEN';
  if (request.method === 'POST') return 'PUT';
  if (request.method === 'DELETE') return 'DELETE';
  if (key === '') return 'LIST';
  return query.get('alt') === 'media' ? 'GET' : 'LOOK';
}

function targetOf({ url: path = '/' }: IncomingMessage) {
  const url = new URL(path, 'http://host');
  const [, bucket = '', key = ''] = /\/b\/([^/]*)\/o(?:\/(.*))?$/.exec(url.pathname) ?? [];
  return { bucket, key: decodeURIComponent(key), query: url.searchParams, path: url.pathname };
}

/** The exchange of a workload's own token for an access token (RFC 8693). */
function tokenFor(form: string, secret: string): Answer {
  if (new URLSearchParams(form).get('subject_token') !== secret) {
    return json({ error: 'invalid_grant', error_description: 'on purpose' }, 400);
  }
  const issued = 'urn:ietf:params:oauth:token-type:access_token';
  return json({ access_token: accessToken, issued_token_type: issued, token_type: 'Bearer', expires_in: 3600 });
}

function resourceOf(name: string, { bytes, sha256, generation }: Stored) {
  const metadata = sha256 === undefined ? {} : { metadata: { sha256 } };
  return { kind: 'storage#object', name, bucket: 'bucket', generation, size: String(bytes.length), ...metadata };
}

/** The two parts of a multipart upload: what is said of an object, and its bytes. */
function partsOf(contentType: string, bytes: Buffer): { metadata: { sha256?: string }; content: Buffer } {
  const boundary = /boundary="?([^";]+)/.exec(contentType)?.[1] ?? '';
  const [, about = '', ...rest] = split(bytes, `--${boundary}`).map((part) => part.toString('latin1'));
  const headEnd = '\r\n\r\n';
  const bodyOf = (part: string): string => part.slice(part.indexOf(headEnd) + headEnd.length).replace(/\r\n$/, '');
  const { metadata = {} } = JSON.parse(bodyOf(about)) as { metadata?: { sha256?: string } };
  return { metadata, content: Buffer.from(bodyOf(rest[0] ?? ''), 'latin1') };
}

function split(bytes: Buffer, separator: string): Buffer[] {
  const parts: Buffer[] = [];
  let start = 0;
  for (let at = bytes.indexOf(separator); at >= 0; at = bytes.indexOf(separator, start)) {
    parts.push(bytes.subarray(start, at));
    start = at + separator.length;
  }
  return parts;
}

function refused(status: number, reason: string): Answer {
  const errors = [{ domain: 'global', reason, message: `${reason} on purpose` }];
  return json({ error: { code: status, message: `${reason} on purpose`, errors } }, status);
}

function json(value: object, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/json; charset=UTF-8' }, body: JSON.stringify(value) };
}
