import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { IdList } from '../../../src/core/ids/id-list.ts';
import { createClient } from '../../../src/core/client/create-client.ts';
import type { RecordRows } from '../../../src/core/records/scan/record-rows.ts';
import { type BatchLookups, lookUpBatch } from '../../../src/core/client/look-up-batch.ts';
import { createMemoryLedger } from '../../../src/core/client/ledger/credit-ledger.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { type FaultsInput, faultsSchema } from '../../../packages/practice-service/src/faults/fault-schema.ts';
import { type RunningService, startService } from '../../../src/practice-service.ts';
import { createHurriedClock } from '../../support/hurried-clock.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { idFound, idsOf, noFlags, rowReader } from './support/calls.ts';

// The two ends of the wire, written apart, against each other.

const sample = fileURLToPath(new URL('../../../data/assets.jsonl.gz', import.meta.url));
const texts = new Map(
  gunzipSync(readFileSync(sample))
    .toString('utf8')
    .trim()
    .split('\n', 120)
    .map((text) => [(JSON.parse(text) as { id: string }).id, text]),
);
const known = [...texts.keys()];
const ids = [...known.slice(0, 60), ...idsOf(5), ...known.slice(60)];
const folder = await keptFolder();
const assets = join(folder.path, 'assets.jsonl');
await writeFile(assets, [...texts.values()].join('\n'));
afterAll(folder.remove);

const [poison = '', second = ''] = [ids[17], ids[99]];

const longestMs = 100_000;

/** Waits take no time. The deadline of a call is longer, and is never reached. */
function hurriedClock(deadlineMs: number): Clock {
  const clock = createHurriedClock();
  clock.sleepFor(deadlineMs);
  return clock;
}

interface Tried {
  readonly result: BatchLookups<RecordRows>;
  readonly service: RunningService;
}

async function lookUp(faults: FaultsInput['faults'], settings: { deadlineMs?: number } = {}): Promise<Tried> {
  const service = await startService({
    assets: [assets],
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    faults: faultsSchema.parse({ seed: 4, faults }),
  });
  onTestFinished(() => service.close());
  const created = createClient({
    url: service.url,
    apiKey: 'key',
    concurrency: 4,
    timeoutMs: settings.deadlineMs ?? longestMs,
    retries: 8,
    maxAnswerBytes: 8_000_000,
    budget: { creditsPerCall: 160, whenSpent: 'stop' },
    ledger: createMemoryLedger(),
    journal: { find: () => Promise.resolve(undefined), append: () => Promise.resolve() },
    clock: settings.deadlineMs === undefined ? hurriedClock(longestMs) : systemClock,
    random: () => 0,
  });
  onTestFinished(() => created.close());
  const flags = { ...noFlags, showFungible: true, showCollectionMetadata: true };
  return {
    result: await lookUpBatch(created.client, {
      ids: IdList.of(ids),
      flags,
      part: 0,
      singles: false,
      reader: rowReader,
    }),
    service,
  };
}

/** Every id has its true fate, but for those that are said to have failed. */
function expectTrueFates({ lookups }: BatchLookups<RecordRows>, failed: readonly string[] = []): void {
  for (const [n, lookup] of [...lookups].entries()) {
    const id = ids[n] ?? '';
    if (failed.includes(id)) expect(lookup.kind).toBe('failed');
    else if (!texts.has(id)) expect(lookup.kind).toBe('missing');
    else expect(idFound(lookup)).toBe(id);
  }
  expect(lookups).toHaveLength(ids.length);
}

const twice = { first: 2 };

// Promise, Nothing misread: The client withstands every fault that the local service can simulate
describe('the client against the service', () => {
  it('gets records as they were loaded, digit for digit, in one call', async () => {
    const { result, service } = await lookUp([]);
    expectTrueFates(result);
    expect(service.counts()).toMatchObject({ calls: 1, ids: ids.length, credits: 160 });
    const found = [...result.lookups].flatMap((lookup) => (lookup.kind === 'found' ? [lookup] : []));
    expect(found.map(({ records, index }) => records.text(index))).toEqual(known.map((id) => texts.get(id)));
  });

  it.each<[string, FaultsInput['faults'][number]]>([
    ['resets before an answer', { fault: 'reset', when: twice }],
    ['resets within a body', { fault: 'reset', afterShare: 0.5, when: twice }],
    ['a clean end within a body', { fault: 'reset', clean: true, afterShare: 0.5, when: twice }],
    ['500', { fault: 'status', status: 500, when: twice }],
    ['502 with JSON', { fault: 'status', status: 502, body: 'json', when: twice }],
    ['503 with Retry-After', { fault: 'status', status: 503, retryAfter: 3, when: twice }],
    ['429 without Retry-After', { fault: 'status', status: 429, when: twice }],
    ['429 with a Retry-After of a day', { fault: 'status', status: 429, retryAfter: 86_400, when: twice }],
    ['429 with a date', { fault: 'status', status: 429, retryAfterDateS: 20, when: twice }],
    ['credits a second exceeded', { fault: 'refusal', form: 'second', when: twice }],
    ['credits a second exceeded, older form', { fault: 'refusal', form: 'secondOlder', when: twice }],
    ['a limit of the key', { fault: 'refusal', form: 'key', when: twice }],
    ['cut JSON', { fault: 'cut', afterShare: 0.7, when: twice }],
    ['malformed JSON', { fault: 'malformed', when: twice }],
    ['HTML with 200', { fault: 'html', when: twice }],
    ['a gzip bomb', { fault: 'gzipBomb', bytes: 50_000_000, when: twice }],
    ['a flood', { fault: 'flood', bytes: 50_000_000, when: twice }],
    ['cut gzip', { fault: 'gzip', cut: true, when: twice }],
    ['an array body', { fault: 'envelope', form: 'bare', when: twice }],
    ['both result and error', { fault: 'envelope', form: 'both', when: twice }],
    ['neither result nor error', { fault: 'envelope', form: 'neither', when: twice }],
    ['a null result', { fault: 'envelope', form: 'nullResult', when: twice }],
    ['an object result', { fault: 'envelope', form: 'objectResult', when: twice }],
    ['a text result', { fault: 'envelope', form: 'textResult', when: twice }],
    ['a wrapped result', { fault: 'envelope', form: 'wrapped', when: twice }],
    ['an internal error', { fault: 'error', code: -32603, message: 'Internal error', when: twice }],
  ])('survives %s with three calls', async (_, fault) => {
    const { result, service } = await lookUp([fault]);
    expectTrueFates(result);
    expect(service.counts().faulted).toBe(2);
  });

  it.each<[string, FaultsInput['faults'][number]]>([
    ['gzip', { fault: 'gzip' }],
    ['another content type', { fault: 'contentType', value: 'text/html' }],
    ['another response id', { fault: 'responseId', id: null }],
    ['missing ones left out', { fault: 'missing', as: 'omitted' }],
    ['missing ones as {}', { fault: 'missing', as: 'object' }],
    ['missing ones as {id, error}', { fault: 'missing', as: 'entry' }],
    ['shuffled records', { fault: 'shuffled' }],
    ['repeated records', { fault: 'repeated', share: 0.3 }],
    ['foreign records', { fault: 'foreign', count: 3 }],
  ])('takes %s in its stride, with one call', async (_, fault) => {
    const { result, service } = await lookUp([fault]);
    expectTrueFates(result);
    expect(service.counts().calls).toBe(1);
  });

  it.each<[string, FaultsInput['faults'][number]]>([
    ['named poison', { fault: 'poison', ids: [poison, second] }],
    [
      'poison of the other form',
      { fault: 'poison', ids: [poison, second], code: -32602, message: 'Invalid params: invalid public key' },
    ],
    [
      'poison that is not understood',
      { fault: 'poison', ids: [poison, second], code: -32603, message: 'Internal error' },
    ],
  ])('isolates ids that spoil their calls: %s', async (_, fault) => {
    const { result } = await lookUp([fault]);
    expectTrueFates(result, [poison, second]);
  });

  it('finds the ids that match nothing where they fail the whole call', async () => {
    expectTrueFates((await lookUp([{ fault: 'missing', as: 'error' }])).result);
  });

  it.each(['invalidParams', 'execution', 'http413', 'responseTooBig', 'responseTooBigOlder'] as const)(
    'finds a smaller size of calls: %s',
    async (form) => {
      const { result, service } = await lookUp([{ fault: 'cap', maxIds: 40, form }]);
      expectTrueFates(result);
      expect(service.counts().calls).toBeLessThanOrEqual(7);
    },
  );

  it('survives hangs and drips past the deadline', async () => {
    expectTrueFates(
      (
        await lookUp(
          [
            { fault: 'hang', when: { first: 1 } },
            { fault: 'drip', everyMs: 20, when: { first: 2 } },
          ],
          { deadlineMs: 1500 },
        )
      ).result,
    );
  });

  it.each(['day', 'dayOlder'] as const)('ends with spent when the balance is gone: %s', async (form) => {
    await expect(lookUp([{ fault: 'refusal', form }])).rejects.toMatchObject({
      exit: 'spent',
      facts: { limit: 'the service' },
    });
  });

  it.each(['badKey', 'disabledKey', 'forbiddenKey', 'missingKey'] as const)(
    'ends with notTrusted: %s',
    async (form) => {
      await expect(lookUp([{ fault: 'refusal', form }])).rejects.toMatchObject({ exit: 'notTrusted' });
    },
  );

  it('ends with unavailable on a redirect, and on an address that speaks something else', async () => {
    await expect(lookUp([{ fault: 'redirect' }])).rejects.toMatchObject({ exit: 'unavailable' });
    await expect(lookUp([{ fault: 'error', code: -32601, message: 'Method not found' }])).rejects.toMatchObject({
      exit: 'unavailable',
    });
  });
});
