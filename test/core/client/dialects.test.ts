import { describe, expect, it } from 'vitest';
import { type AssetCall, AttemptError } from '../../../src/core/client/asset-client.ts';
import { defaultDialect, type ServiceDialect, serviceDialects } from '../../../src/core/client/dialects.ts';
import { callBody, callKey } from '../../../src/core/client/wire/call-body.ts';
import { judgeAnswer } from '../../../src/core/client/wire/judge-answer.ts';
import { serviceAddress } from '../../../src/core/client/wire/service-address.ts';
import { IdList } from '../../../src/core/ids/id-list.ts';
import { generatedId } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { seenRequest } from '../../support/service/seen-request.ts';
import { SeededRandom } from '../../../packages/practice-service/src/generated/seeded-random.ts';

const one = generatedId(4, 0);
const two = generatedId(4, 1);

const none = { showFungible: false, showCollectionMetadata: false, showUnverifiedCollections: false };
const all = { showFungible: true, showCollectionMetadata: true, showUnverifiedCollections: true };

function call(method: AssetCall['method'], flags = none): AssetCall {
  return { method, ids: IdList.of(method === 'getAsset' ? [one] : [one, two]), flags, part: 0, reader: undefined };
}

const requestOf = (dialect: ServiceDialect, sent: AssetCall, apiKey?: string) =>
  seenRequest(dialect, (wire) => wire.ask(sent), apiKey);

const flagsNamed = '{"showFungible":true,"showUnverifiedCollections":true,"showCollectionMetadata":true}';

/** Target, `one` with all flags, `many` without a flag and with all. */
const golden: Readonly<Record<string, readonly [string, string, string, string]>> = {
  metamask: [
    '/base/v3/k%2F1',
    `"method":"getAsset","params":["${one}",${flagsNamed}]}`,
    `"method":"getAssets","params":[["${one}","${two}"]]}`,
    `"method":"getAssets","params":[["${one}","${two}"],{"showFungible":true,"showCollectionMetadata":true}]}`,
  ],
  helius: [
    '/base/?api-key=k%2F1',
    `"method":"getAsset","params":{"id":"${one}","options":${flagsNamed}}}`,
    `"method":"getAssetBatch","params":{"ids":["${one}","${two}"]}}`,
    `"method":"getAssetBatch","params":{"ids":["${one}","${two}"],"options":${flagsNamed}}}`,
  ],
  alchemy: [
    '/base/v2/k%2F1',
    `"method":"getAsset_v2","params":{"id":"${one}","options":${flagsNamed}}}`,
    `"method":"getAssetBatch_v2","params":{"ids":["${one}","${two}"]}}`,
    `"method":"getAssetBatch_v2","params":{"ids":["${one}","${two}"],"options":${flagsNamed}}}`,
  ],
  triton: [
    '/base/k%2F1',
    `"method":"getAsset","params":{"id":"${one}","options":${flagsNamed}}}`,
    `"method":"getAssets","params":{"ids":["${one}","${two}"]}}`,
    `"method":"getAssets","params":{"ids":["${one}","${two}"],"options":${flagsNamed}}}`,
  ],
  reference: [
    '/base/',
    `"method":"getAsset","params":{"id":"${one}","options":${flagsNamed}}}`,
    `"method":"getAssets","params":{"ids":["${one}","${two}"]}}`,
    `"method":"getAssets","params":{"ids":["${one}","${two}"],"options":${flagsNamed}}}`,
  ],
};

describe('a call', () => {
  it.each(serviceDialects.map((dialect) => [dialect.name, dialect] as const))(
    // Promise, Nothing lost: Without a dialect, requests keep their bytes
    'under %s is this request',
    async (name, dialect) => {
      const [target, single, plain, flagged] = golden[name] ?? [];
      const seen = await Promise.all([
        requestOf(dialect, call('getAsset', all)),
        requestOf(dialect, call('getAssets')),
        requestOf(dialect, call('getAssets', all)),
      ]);
      expect(seen.map(({ url }) => url)).toEqual([target, target, target]);
      expect(seen.map(({ body }) => body.replace(/^\{"jsonrpc":"2.0","id":\d+,/, ''))).toEqual([
        single,
        plain,
        flagged,
      ]);
      const own = Object.keys(seen[0].headers).sort();
      expect(own).toEqual(['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'host']);
    },
  );

  it('has one name in the journal, whatever dialect sends it', () => {
    const key = callKey(call('getAssets', all));
    for (const dialect of serviceDialects) {
      const sent = call('getAssets', all);
      callBody(sent, dialect);
      expect(callKey(sent)).toBe(key);
    }
  });
});

describe('a key', () => {
  const placed: readonly Pick<ServiceDialect, 'path' | 'header'>[] = [
    { path: '/v3/{key}', header: undefined },
    { path: '/rpc?a=1&token={key}', header: undefined },
    { path: '/rpc', header: 'Authorization: Bearer {key}' },
  ];

  // Promise, Nothing leaked: No message holds the key, raw or encoded, wherever a dialect puts it
  it.each(placed)('arrives as it is in $path $header, and is taken out of messages, raw and encoded', async (place) => {
    const [base] = serviceDialects;
    if (base === undefined) throw new Error('no dialect');
    const random = new SeededRandom([7, 7, 7, 7]);
    for (let round = 0; round < 8; round += 1) {
      const apiKey = `7${Array.from({ length: 8 }, () => '%/?&=+#aZ0'[random.below(10)] ?? '').join('')}z`;
      const dialect = { ...base, ...place };
      const { url = '', headers } = await requestOf(dialect, call('getAssets'), apiKey);
      const at = new URL(url, 'http://here');
      const found = [
        headers.authorization,
        at.searchParams.get('token'),
        decodeURIComponent(at.pathname.split('/').at(-1) ?? ''),
      ];
      expect(found).toContain(place.header === undefined ? apiKey : `Bearer ${apiKey}`);
      const { scrub } = serviceAddress({ url: 'http://here', apiKey, dialect });
      const words = scrub(`refused ${apiKey} and ${encodeURIComponent(apiKey)} at ${url}`);
      expect(words).not.toContain(apiKey);
      expect(words).not.toContain(encodeURIComponent(apiKey));
    }
  });
});

describe('words for a spent quota', () => {
  const spent = { ...defaultDialect, spentWords: ['Quota Exceeded'] };
  const bodies = [
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"your quota exceeded for now"}}',
    'Sorry: quota exceeded',
  ];

  it.each(bodies.flatMap((body) => [200, 403, 429].map((status) => [status, body] as const)))(
    '%i %s',
    (status, body) => {
      const answer = { status, retryAfter: undefined, body: Buffer.from(body) };
      const options = { scrub: (text: string) => text, nowMs: 0 };
      const judged = (dialect?: ServiceDialect) => () =>
        judgeAnswer(answer, call('getAssets'), { ...options, dialect });
      expect(judged(spent)).toThrow(expect.objectContaining({ failure: 'spent', ofPeriod: false }) as Error);
      expect(judged({ ...spent, quota: 'month' })).toThrow(
        expect.objectContaining({ failure: 'spent', ofPeriod: true }) as Error,
      );
      expect(judged()).not.toThrow(expect.objectContaining({ failure: 'spent' }) as Error);
    },
  );
});

it('words that name a day outrank what a dialect says of its quota', () => {
  const body = '{"jsonrpc":"2.0","id":1,"error":{"code":-32007,"message":"daily request limit reached"}}';
  const answer = { status: 200, retryAfter: undefined, body: Buffer.from(body) };
  const dialect: ServiceDialect = { ...defaultDialect, spentWords: ['request limit reached'], quota: 'month' };
  expect(() => judgeAnswer(answer, call('getAssets'), { scrub: (text) => text, nowMs: 0, dialect })).toThrow(
    expect.objectContaining({ failure: 'spent', ofPeriod: false }) as Error,
  );
});

describe('an address that answers 404', () => {
  const todoOf = (dialect?: ServiceDialect): string | undefined => {
    const answer = { status: 404, retryAfter: undefined, body: Buffer.from('not found') };
    try {
      judgeAnswer(answer, call('getAssets'), { scrub: (text) => text, nowMs: 0, dialect });
    } catch (error) {
      return error instanceof AttemptError ? error.atFirst?.todo : undefined;
    }
    return undefined;
  };

  it('may be one of another dialect: the message says which path was tried', () => {
    for (const { name, path } of serviceDialects.filter((dialect) => dialect.path.includes('{key}')))
      expect(todoOf(serviceDialects.find((dialect) => dialect.name === name))).toContain(
        `service.url followed by ${path}, with the methods of the dialect ${name}: check both`,
      );
    expect(todoOf()).toContain('/v3/{key}, with the methods of the dialect metamask');
  });

  it('shows no path that may have a key written into it', () => {
    expect(todoOf({ ...defaultDialect, path: '/rpc/s3cret' })).not.toContain('s3cret');
  });
});
