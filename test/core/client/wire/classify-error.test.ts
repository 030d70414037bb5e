import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { classifyError, type ErrorClass, rpcErrorOfBody } from '../../../../src/core/client/wire/classify-error.ts';
import { idOf } from '../support/calls.ts';

interface Form {
  readonly is: ErrorClass;
  readonly status: number;
  /** The `error` member, or a body of another kind. */
  readonly body: string | { code?: number; event?: number; message?: string; details?: string; data?: object };
  readonly retryAfter?: boolean;
}

const forms: readonly Form[] = [
  {
    is: 'spent',
    status: 402,
    body: {
      code: 402,
      event: -33000,
      message: 'Payment Required',
      details: 'You have reached your daily credit limit.',
    },
  },
  { is: 'spent', status: 402, body: 'Payment Required' },
  { is: 'spent', status: 200, body: { code: -33000, event: -33000, message: 'Payment Required' } },
  { is: 'spent', status: 429, body: { code: -32005, message: 'daily request count exceeded, request rate limited' } },
  {
    is: 'pace',
    status: 429,
    body: {
      code: 429,
      event: -33200,
      message: 'Too Many Requests',
      details: 'You have surpassed your allowed throughput limit.',
    },
  },
  {
    is: 'pace',
    status: 429,
    body: {
      code: 429,
      event: -33300,
      message: 'Too Many Requests',
      details: 'You have surpassed your user-defined key throughput limit setting.',
    },
  },
  {
    is: 'pace',
    status: 429,
    body: { code: -32005, message: 'project ID request rate exceeded', data: { backoff_seconds: 30.0 } },
  },
  { is: 'pace', status: 429, body: 'slow down' },
  { is: 'pace', status: 200, body: { code: -32005, message: 'project ID request rate exceeded' } },
  { is: 'pace', status: 503, body: 'busy', retryAfter: true },
  { is: 'keyRefused', status: 401, body: 'invalid project id\n' },
  {
    is: 'keyRefused',
    status: 401,
    body: { code: -32001, message: 'Authentication failed. Missing or invalid API key.' },
  },
  { is: 'keyRefused', status: 403, body: { code: -32600, message: 'project ID is required' } },
  { is: 'keyRefused', status: 403, body: { code: -32002, message: 'rejected due to project ID settings' } },
  { is: 'keyRefused', status: 200, body: { code: -32001, message: 'Missing or invalid API key.' } },
  { is: 'size', status: 413, body: '<html><head><title>413 Request Entity Too Large</title>' },
  { is: 'size', status: 413, body: { code: -32602, message: 'calls are limited to a 75 range' } },
  { is: 'size', status: 400, body: { code: -32602, message: 'Number of ids exceeds the limit of 100' } },
  { is: 'size', status: 200, body: { code: -32602, message: 'Batch Size Error: at most 1000 ids' } },
  { is: 'size', status: 200, body: { code: -32000, message: 'Batch Size Error: Batch size too large' } },
  { is: 'size', status: 200, body: { code: -32600, message: 'Too many accounts requested (5000001 pubkeys)' } },
  { is: 'size', status: 200, body: { code: -32702, message: 'Response is too big' } },
  { is: 'size', status: 200, body: { code: -32008, message: 'Response is too big', data: {} } },
  { is: 'id', status: 200, body: { code: -32000, message: 'Pubkey Validation Err: abc is invalid' } },
  { is: 'id', status: 400, body: { code: -32602, message: 'Invalid asset id: abc' } },
  {
    is: 'notFound',
    status: 200,
    body: { code: -32000, message: 'Database Error: RecordNotFound Error: Asset Not Found' },
  },
  {
    is: 'notFound',
    status: 200,
    body: { code: -32000, message: 'Database Error RecordNotFound Error: Asset Not Found' },
  },
  { is: 'notFound', status: 200, body: { code: -32603, message: 'Asset not found' } },
  { is: 'notFound', status: 200, body: { code: -32000, message: 'Asset has no supply' } },
  { is: 'notFound', status: 200, body: { code: -32000, message: 'This NFT was burnt' } },
  { is: 'notFound', status: 200, body: { code: -32000, message: 'token account closed' } },
  { is: 'notFound', status: 200, body: { code: -32602, message: `mint ${idOf(7)} does not exist` } },
  { is: 'refusal', status: 200, body: { code: -32000, message: 'boom' } },
  { is: 'transport', status: 200, body: { code: -32000, message: 'the connection of the asset index was closed' } },
  { is: 'notFound', status: 404, body: { code: -32004, message: 'One or more assets in the batch were not found.' } },
  { is: 'notFound', status: 200, body: { code: -32000, message: `Asset ${idOf(7)} not found` } },
  { is: 'notFound', status: 200, body: { code: -32603, message: `"${idOf(7)}" was not found` } },
  { is: 'refusal', status: 404, body: { code: 404, message: 'Not Found' } },
  { is: 'elsewhere', status: 200, body: { code: -32601, message: 'Method not found' } },
  { is: 'elsewhere', status: 200, body: { code: -32700, message: 'Parse error' } },
  { is: 'elsewhere', status: 302, body: '' },
  { is: 'elsewhere', status: 404, body: '<h1>Not Found</h1>' },
  { is: 'elsewhere', status: 410, body: '(gone)' },
  { is: 'transport', status: 500, body: { code: -32000, message: 'An unexpected error occurred on the server.' } },
  { is: 'transport', status: 502, body: '<html>' },
  { is: 'transport', status: 503, body: 'busy' },
  { is: 'transport', status: 504, body: { code: -32000, message: 'context deadline exceeded' } },
  { is: 'transport', status: 503, body: { code: -32000, message: 'asset shard not found' } },
  { is: 'transport', status: 500, body: { code: -32004, message: 'RecordNotFound' } },
  { is: 'transport', status: 500, body: { code: -32603, message: 'maximum pool size exceeded: too many open files' } },
  { is: 'transport', status: 500, body: { message: 'authentication backend: no answer' } },
  { is: 'transport', status: 502, body: { code: -32700, message: 'Parse error' } },
  { is: 'id', status: 500, body: { code: -32602, message: 'Pubkey Validation Err: abc is invalid' } },
  { is: 'size', status: 500, body: { code: -32602, message: 'at most 100 ids' } },
  { is: 'size', status: 500, body: { code: -32702, message: 'Response is too big' } },
  { is: 'id', status: 500, body: { code: -32000, message: 'Pubkey Validation Err: abc is invalid' } },
  { is: 'transport', status: 500, body: { code: -32602, message: 'no' } },
  { is: 'transport', status: 500, body: { code: -32602, message: 'token account index not found' } },
  { is: 'transport', status: 500, body: { code: -32602, message: 'RecordNotFound' } },
  { is: 'transport', status: 500, body: { code: -32602, message: 'no such asset' } },
  { is: 'transport', status: 503, body: { code: -32601, message: 'Method not found' } },
  { is: 'elsewhere', status: 505, body: 'HTTP Version Not Supported' },
  { is: 'elsewhere', status: 501, body: { code: -32601, message: 'Method not found' } },
  { is: 'transport', status: 408, body: '' },
  { is: 'transport', status: 204, body: '' },
  { is: 'refusal', status: 200, body: { code: -32603, message: 'Internal error' } },
  { is: 'refusal', status: 200, body: { code: -32000, message: 'deadline exceeded' } },
  { is: 'transport', status: 200, body: { code: -32603, message: 'too many connections to the database' } },
  { is: 'refusal', status: 200, body: { code: -32603, message: 'maximum retries exceeded' } },
  { is: 'refusal', status: 200, body: { code: -32000, message: 'memory limit exceeded' } },
  { is: 'transport', status: 200, body: { code: -32000, message: 'connection pool size exceeded' } },
  { is: 'size', status: 200, body: { code: -32603, message: 'at most 100 assets' } },
  { is: 'size', status: 400, body: { message: 'too many ids' } },
  { is: 'refusal', status: 400, body: { code: -32602, message: 'Invalid request parameters.' } },
  { is: 'refusal', status: 422, body: 'no' },
  // A code alone is never "not found".
  { is: 'transport', status: 200, body: { code: -32004, message: 'Service temporarily unavailable' } },
  { is: 'refusal', status: 200, body: { code: -32004, message: 'no' } },
  { is: 'forbidden', status: 403, body: '<html><head><title>403 Forbidden</title></head></html>' },
];

/** Words of an error -32602 that name a size that the service takes. */
const sizeWords = [
  'requests of at most 100 ids at a time',
  'You can request at most 100 ids at a time',
  'cannot ask for more than 100 ids at one time',
  'ids: limit is 100',
  'Number of ids is over the limit (100)',
  'limit: 100 ids',
  'the limit for ids per request is 100',
  'the per-call limit is 100',
  'request limit: 100 ids',
  'must not be greater than 100 ids',
  'Batch Size Error. Batch size should not be greater than 1000.',
  'number of ids is greater than the allowed 100',
  'up to 100 ids',
  'You may pass up to 1,000 asset public keys',
  'ids array is too long',
  'ids: too long',
  "['a', 'b'] is too long",
  '"ids" must contain less than or equal to 100 items',
  'ids.length must be <= 100',
];

/** Words of an error -32602 that hold the same words, and name no size. */
const otherWords: readonly (readonly [ErrorClass, string])[] = [
  ['refusal', 'Invalid params: unknown field `showFungible`, expected one of `limit`, `page`'],
  ['refusal', 'Invalid params: missing field `limit`'],
  ['refusal', 'invalid limit'],
  ['refusal', 'limit must be a number'],
  ['refusal', 'page and limit are required'],
  ['refusal', 'page must be greater than 0'],
  ['refusal', 'length must be greater than 31'],
  ['refusal', 'id too long'],
  ['refusal', 'ids[3] is too long'],
  ['refusal', 'an id has up to 44 characters'],
  ['refusal', 'id length must be <= 44'],
  ['refusal', 'the time limit of 30 s is over'],
  ['refusal', 'maximum execution time exceeded'],
  ['refusal', 'the look-up took too long'],
  ['transport', 'timed out after more than 30 s'],
  ['refusal', 'too many open files at this time'],
  ['refusal', 'your request limit is used'],
  ['pace', 'rate limit exceeded'],
  ['pace', 'at most 10 requests per second'],
  ['pace', 'at most 10 requests at a time'],
  ['pace', 'at most 10 requests can be sent at a time'],
  ['pace', 'no more than 4 requests in flight at one time'],
  ['pace', 'too many concurrent requests'],
  ['id', 'Invalid asset id: abc'],
  ['id', 'abc is not a valid pubkey'],
];

/** Errors -32005 with HTTP 200. */
const limitExceeded: readonly (readonly [ErrorClass, { message: string; data?: object }])[] = [
  ['pace', { message: 'limit exceeded' }],
  ['pace', { message: 'credits per second exceeded' }],
  ['pace', { message: 'limit exceeded', data: { backoff_seconds: 30 } }],
  ['pace', { message: 'slow down', data: { backoff_seconds: 1 } }],
  ['spent', { message: 'daily request count exceeded', data: { backoff_seconds: 30 } }],
  ['size', { message: 'number of ids exceeds the limit' }],
  ['size', { message: 'query returned more than 10000 results' }],
  ['size', { message: 'response size exceeded' }],
  ['size', { message: 'payload exceeds 1 MB' }],
  ['size', { message: '1000 exceeds the maximum of 100' }],
  ['size', { message: 'Request exceeds the limit' }],
  ['refusal', { message: 'execution time exceeded' }],
];

function bodyOf(error: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, error });
}

function classOf(status: number, body: string, hasRetryAfter = false): ErrorClass {
  const error = rpcErrorOfBody(body);
  return classifyError({ status, error, text: error === undefined ? body : '', hasRetryAfter });
}

/** Forms that were read wrong: pace as size, a month as a bad key or as pace, parameters as size or id. */
const misread: readonly (readonly [ErrorClass, number, string | object])[] = [
  ['pace', 200, { code: -32007, message: '50/second request limit reached - reduce calls per second' }],
  ['pace', 200, { code: -32005, message: 'RPS limit exceeded' }],
  ['pace', 200, { code: -32012, message: 'limit' }],
  ['pace', 200, '15/sec request limit reached'],
  ['periodSpent', 200, { code: -32429, message: 'max usage reached' }],
  ['periodSpent', 200, 'max usage reached'],
  ['periodSpent', 429, '{"error":"max usage reached"}'],
  ['periodSpent', 429, { code: 429, message: 'Monthly capacity limit exceeded. Visit your dashboard' }],
  ['periodSpent', 403, 'Monthly quota exceeded'],
  ['periodSpent', 402, { code: 402, message: 'Quota of this billing period is used up' }],
  ['refusal', 200, { code: -32602, message: 'Invalid params: invalid type: sequence, expected a map' }],
  ['refusal', 200, { code: -32602, message: 'invalid params: missing field `ids`' }],
  ['size', 200, { code: -32602, message: 'invalid length 1000, expected an array of at most 100 ids' }],
  ['transport', 200, { code: -32050, message: 'Resource exhausted' }],
  ['forbidden', 403, 'Forbidden'],
];

describe('classifyError', () => {
  // Promise, Nothing overspent: A spent month ends a run at once; words of a rate limit shrink no call
  it.each(misread)('takes for %s: %i %j', (is, status, body) => {
    expect(classOf(status, typeof body === 'string' ? body : bodyOf(body))).toBe(is);
  });

  it('heeds a status and a code of a size, whatever the words say of a pace', () => {
    const message = 'request exceeds the limit: 500 credits per second';
    expect(classOf(413, bodyOf({ code: -32005, message }))).toBe('size');
    expect(classOf(200, bodyOf({ code: -32702, message }))).toBe('size');
  });

  it.each(forms)('takes HTTP $status $body for $is', ({ is, status, body, retryAfter }) => {
    const text = typeof body === 'string' ? body : bodyOf(body);
    expect(classOf(status, text, retryAfter)).toBe(is);
  });

  it.each(sizeWords)('reads a size from -32602 %j', (message) => {
    for (const status of [200, 400]) expect(classOf(status, bodyOf({ code: -32602, message }))).toBe('size');
  });

  it.each(otherWords)('takes -32602 for %s: %j', (is, message) => {
    for (const status of [200, 400]) expect(classOf(status, bodyOf({ code: -32602, message }))).toBe(is);
  });

  it.each(limitExceeded)('takes -32005 with HTTP 200 for %s: %j', (is, error) => {
    expect(classOf(200, bodyOf({ code: -32005, ...error }))).toBe(is);
  });

  const recorded = new URL('../../../../../shared/data/real-errors.jsonl', import.meta.url);
  it.skipIf(!existsSync(recorded))('knows every recorded error of a real service', () => {
    const expected: ErrorClass[] = [
      'notFound',
      'spent',
      'pace',
      'pace',
      'spent',
      'pace',
      'keyRefused',
      'keyRefused',
      'keyRefused',
      'keyRefused',
      'keyRefused',
      'keyRefused',
      'keyRefused',
      'refusal',
      'keyRefused',
      'keyRefused',
      'notFound',
      'pace',
      'transport',
      'size',
      'size',
      'elsewhere',
    ];
    const lines = readFileSync(recorded, 'utf8').trim().split('\n');
    const found = lines.map((line) => {
      const { http_status: status, body } = JSON.parse(line) as { http_status: number; body: unknown };
      return classOf(status, typeof body === 'string' ? body : JSON.stringify(body));
    });
    expect(found).toEqual(expected);
  });
});
