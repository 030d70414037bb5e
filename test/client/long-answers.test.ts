import { describe, expect, it, onTestFinished } from 'vitest';
import { IdList } from '../../src/assets/id-list.ts';
import { type ClientOptions, type CreatedClient, createClient } from '../../src/client/create-client.ts';
import { lookUpBatch } from '../../src/client/look-up-batch.ts';
import type { Lookup } from '../../src/client/lookups.ts';
import { createMemoryLedger } from '../../src/client/memory-ledger.ts';
import type { AnswerEntry } from '../../src/client/with-journal.ts';
import { answerBody, idsOf, noFlags, recordText } from './support/calls.ts';
import { createFakeClock } from './support/fake-clock.ts';
import { reply, startRoughServer } from './support/rough-server.ts';

/** Some forty records of usual length. */
const maxAnswerBytes = 6_000;
const tooLong = 'an answer of more than 6000 bytes, the most that is read';

/** A service, and a client that reads so much at most. `padding` makes the record of an id longer by so many bytes. */
async function setting(padding: (id: string) => number, options: Partial<ClientOptions> = {}) {
  const sizes: number[] = [];
  const server = await startRoughServer((response, request) => {
    const { params } = JSON.parse(request.body) as { params: [string[]] };
    sizes.push(params[0].length);
    const records = params[0].map((id) => recordText(id).replace('Asset', 'x'.repeat(padding(id))));
    reply(response, { body: answerBody(records) });
  });
  const clock = createFakeClock();
  const ledger = createMemoryLedger();
  const entries = new Map<string, AnswerEntry>();
  const journal = {
    find: (key: string) => Promise.resolve(entries.get(key)?.body),
    append: (entry: AnswerEntry) => {
      entries.set(entry.key, entry);
      return Promise.resolve();
    },
  };
  const connect = (): CreatedClient => {
    const created = createClient({
      ...{ url: server.url, apiKey: 'key', concurrency: 1, timeoutMs: 60_000, retries: 8, maxAnswerBytes },
      ...{ budget: { creditsPerCall: 160, whenSpent: 'stop' }, ledger, clock, journal, random: () => 0 },
      ...options,
    });
    onTestFinished(() => created.close());
    return created;
  };
  const booked = (): Promise<number> => ledger.booked('2026-03-14');
  return { connect, sizes, booked };
}

async function lookUp({ client }: CreatedClient, ids: readonly string[]): Promise<Lookup[]> {
  const { lookups } = await lookUpBatch(client, { ids: IdList.of(ids), flags: noFlags, part: 0, singles: false });
  return [...lookups];
}

function kindsOf(lookups: readonly Lookup[]): Set<Lookup['kind']> {
  return new Set(lookups.map(({ kind }) => kind));
}

describe('an answer that is too long', () => {
  it('halves its call after two retries, and makes those that follow smaller; each attempt is paid', async () => {
    const { connect, sizes, booked } = await setting(() => 0);
    const created = connect();
    expect(kindsOf(await lookUp(created, idsOf(100)))).toEqual(new Set(['found']));
    expect(created.cap()).toBe(25);
    expect(sizes.filter((size) => size === 100)).toHaveLength(3);
    expect(sizes.filter((size) => size === 50).length).toBeLessThanOrEqual(6);
    expect(await booked()).toBe(160 * sizes.length);
    sizes.length = 0;
    expect(kindsOf(await lookUp(created, idsOf(100, 100)))).toEqual(new Set(['found']));
    expect(sizes).toEqual([25, 25, 25, 25]);
  });

  it('fails an id whose own it is, and costs the others no larger bill', async () => {
    const [first = '', ...ids] = idsOf(32);
    const long = ids[20] ?? '';
    const { connect, sizes, booked } = await setting((id) => (id === long ? 20_000 : 0));
    const created = connect();
    expect(kindsOf(await lookUp(created, idsOf(32, 100)))).toEqual(new Set(['found']));
    const lookups = await lookUp(created, [first, ...ids]);
    expect(lookups[21]).toEqual({ kind: 'failed', reason: tooLong });
    expect(kindsOf(lookups.toSpliced(21, 1))).toEqual(new Set(['found']));
    expect(created.cap()).toBe(Number.POSITIVE_INFINITY);
    expect(sizes.filter((size) => size === 1).length).toBeLessThanOrEqual(4);
    expect(await booked()).toBe(160 * sizes.length);
  });

  it('is not paid for again by the next run, which is told no size by it', async () => {
    const ids = idsOf(32);
    const { connect, sizes } = await setting((id) => (id === ids[0] ? 20_000 : 0));
    const created = connect();
    const before = await lookUp(created, ids);
    await lookUp(created, idsOf(1, 100));
    const sent = sizes.length;
    const again = connect();
    expect((await lookUp(again, ids)).map(({ kind }) => kind)).toEqual(before.map(({ kind }) => kind));
    expect(sizes).toHaveLength(sent);
    expect(again.cap()).toBe(Number.POSITIVE_INFINITY);
  });

  it('to every call ends the run, and nothing of it is believed', async () => {
    const { connect, sizes } = await setting(() => 20_000);
    const created = connect();
    const error = await lookUp(created, idsOf(32)).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ exit: 'unavailable', message: expect.stringContaining(tooLong) as string });
    const sent = sizes.length;
    expect(sent).toBeLessThanOrEqual(20);
    await lookUp(connect(), idsOf(32)).catch((reason: unknown) => reason);
    expect(sizes).toHaveLength(2 * sent);
  });
});
