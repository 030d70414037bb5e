import { describe, expect, it, onTestFinished } from 'vitest';
import { IdList } from '../../../src/core/ids/id-list.ts';
import type { ClientEvent } from '../../../src/core/client/asset-client.ts';
import { type ClientOptions, type CreatedClient, createClient } from '../../../src/core/client/create-client.ts';
import { callKey } from '../../../src/core/client/wire/call-body.ts';
import { lookUpBatch } from '../../../src/core/client/look-up-batch.ts';
import { createMemoryLedger } from '../../../src/core/client/ledger/credit-ledger.ts';
import type { AnswerEntry } from '../../../src/core/client/policies/with-journal.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import {
  answerBody,
  batchCall,
  idFound,
  idOf,
  idsOf,
  noFlags,
  recordIdsOf,
  recordText,
  rowReader,
} from './support/calls.ts';
import { createFakeClock, settled } from '../../support/fake-clock.ts';
import { reply, type Respond, startRoughServer } from './support/rough-server.ts';
import { scriptedClient } from './support/scripted-client.ts';

interface Setting {
  readonly entries?: Map<string, AnswerEntry>;
  readonly events?: ClientEvent[];
}

function connect(
  url: string,
  options: Partial<ClientOptions> = {},
  { entries = new Map<string, AnswerEntry>(), events = [] }: Setting = {},
): CreatedClient {
  const created = createClient({
    url,
    apiKey: 'canary-key',
    concurrency: 4,
    timeoutMs: 60_000,
    retries: 8,
    budget: { creditsPerCall: 160, whenSpent: 'stop' },
    ledger: createMemoryLedger(),
    journal: {
      find: (key) => Promise.resolve(entries.get(key)?.body),
      append: async (entry) => {
        entries.set(entry.key, entry);
      },
    },
    listener: (event) => events.push(event),
    random: () => 0,
    ...options,
  });
  onTestFinished(() => created.close());
  return created;
}

const answerAll: Respond = (response, { body }) => {
  const { params } = JSON.parse(body) as { params: [string[]] };
  reply(response, { body: answerBody(params[0].map(recordText)) });
};

function batches(count: number, size: number): string[][] {
  return Array.from({ length: count }, (_, n) => idsOf(size, n * size));
}

describe('createClient', () => {
  it('looks all ids up with exactly as many calls as batches when nothing fails', async () => {
    const service = await startGeneratedService({
      missingPercent: 2,
      shuffled: true,
      repeatedPercent: 3,
      missingAs: 'omitted',
    });
    onTestFinished(() => service.stop());
    const { client } = connect(service.url);
    const work = batches(10, 500).map((ids, part) =>
      lookUpBatch(client, { ids: IdList.of(ids), flags: noFlags, part, singles: true, reader: rowReader }),
    );
    const lookups = (await Promise.all(work)).flatMap((batch) => [...batch.lookups]);
    const ids = idsOf(5000);
    expect(lookups).toHaveLength(5000);
    expect(lookups.every((lookup, n) => lookup.kind === 'missing' || idFound(lookup) === ids[n])).toBe(true);
    const missing = lookups.filter((lookup) => lookup.kind === 'missing').length;
    expect(missing).toBeGreaterThan(40);
    expect(missing).toBeLessThan(200);
    expect(service.counts()).toMatchObject({ calls: 10 });
  });

  it('sends no call of a size that was refused while it waited for its slot', async () => {
    const sizes: number[] = [];
    const server = await startRoughServer((response, request, n) => {
      const { params } = JSON.parse(request.body) as { params: [string[]] };
      sizes.push(params[0].length);
      if (params[0].length > 5) reply(response, { status: 413, body: 'too large' });
      else void answerAll(response, request, n);
    });
    const { client } = connect(server.url, { concurrency: 1 });
    await Promise.all(
      batches(4, 10).map((ids, part) =>
        lookUpBatch(client, { ids: IdList.of(ids), flags: noFlags, part, singles: false, reader: rowReader }),
      ),
    );
    // The first is halved; the second, for other ids, makes it believed, and sizes between are tried.
    expect(sizes.filter((size) => size > 5)).toEqual([10, 10, 7, 6]);
    expect(sizes.filter((size) => size <= 5 && size > 1)).toEqual([5, 5, 5, 5, 5, 5, 5, 5]);
  });

  it('pays for retries, and for nothing that the journal holds', async () => {
    const ledger = createMemoryLedger();
    const server = await startRoughServer((response, request, n) => {
      if (n <= 1) reply(response, { status: 503, body: 'busy' });
      else void answerAll(response, request, n);
    });
    const clock = createFakeClock();
    const [day, calls] = ['2026-03-14', [] as number[]];
    const entries = new Map<string, AnswerEntry>();
    const options = { ledger, clock, onCall: async (): Promise<void> => void calls.push(1) };
    const call = batchCall(idsOf(5));
    const first = await connect(server.url, options, { entries }).client.ask(call);
    expect([await ledger.booked(day), calls.length, server.seen.length]).toEqual([320, 2, 2]);
    const again = await connect(server.url, options, { entries }).client.ask(call);
    expect({ ...again, release: undefined }).toEqual({ ...first, release: undefined });
    expect(recordIdsOf(again)).toEqual([...call.ids]);
    expect([await ledger.booked(day), calls.length, server.seen.length]).toEqual([320, 2, 2]);
  });

  it('lets other calls use the slot of one that waits for its next attempt', async () => {
    const clock = createFakeClock();
    const server = await startRoughServer((response, request, n) => {
      if (n === 1) reply(response, { status: 500, body: '' });
      else void answerAll(response, request, n);
    });
    const { client } = connect(server.url, { clock, concurrency: 1, random: () => 0.9 });
    const failing = client.ask(batchCall([idOf(1)]));
    await server.received(1);
    const other = await client.ask(batchCall([idOf(2)]));
    expect(other.kind).toBe('records');
    await clock.advance(500);
    expect((await failing).kind).toBe('records');
    expect(server.seen.map(({ body }) => (JSON.parse(body) as { params: unknown[][] }).params[0]?.[0])).toEqual([
      idOf(1),
      idOf(2),
      idOf(1),
    ]);
  });

  it('pauses all calls after a 429 and goes on by itself', async () => {
    const clock = createFakeClock();
    const events: ClientEvent[] = [];
    const server = await startRoughServer((response, request, n) => {
      if (n === 1) reply(response, { status: 429, body: '', headers: { 'retry-after': '20' } });
      else void answerAll(response, request, n);
    });
    const { client } = connect(server.url, { clock, concurrency: 1 }, { events });
    const work = Promise.all(batches(3, 2).map((ids) => client.ask(batchCall(ids))));
    await server.received(1);
    while (!events.some((event) => event.kind === 'paused')) await settled();
    await clock.advance(19_999);
    expect(server.seen).toHaveLength(1);
    await clock.advance(1);
    expect(await work).toHaveLength(3);
    expect(server.seen).toHaveLength(4);
  });

  it('gives up within minutes when a Retry-After names a day, however many calls wait', async () => {
    const clock = createFakeClock();
    const startedMs = clock.now();
    const server = await startRoughServer((response) => {
      reply(response, { status: 429, body: '', headers: { 'retry-after': '86400' } });
    });
    const stop = new AbortController();
    const { client } = connect(server.url, { clock, concurrency: 8, stop: stop.signal });
    const first = Promise.any(batches(30, 2).map((ids) => client.ask(batchCall(ids)).catch((error: unknown) => error)));
    let failure: unknown;
    void first.then((error) => {
      failure = error;
      stop.abort(error);
    });
    while (failure === undefined) await clock.advance(1000);
    expect(failure).toMatchObject({ exit: 'unavailable', cause: { status: 429 } });
    expect(clock.now() - startedMs).toBeLessThan(10 * 60_000);
    expect(server.seen.length).toBeLessThan(30);
  });

  it('sends exactly five calls when the run may cost five, and ends with spent', async () => {
    const server = await startRoughServer(answerAll);
    const { client } = connect(server.url, { budget: { creditsPerCall: 160, creditsPerRun: 800, whenSpent: 'stop' } });
    const ends = await Promise.allSettled(batches(9, 2).map((ids) => client.ask(batchCall(ids))));
    expect(ends.filter((end) => end.status === 'rejected').map((end) => (end.reason as ExportError).exit)).toEqual(
      Array(4).fill('spent'),
    );
    expect(server.seen).toHaveLength(5);
  });

  it('sends no more than the calls in flight once the key is refused', async () => {
    const server = await startRoughServer((response) => {
      reply(response, { status: 401, body: 'invalid project id canary-key' });
    });
    const { client } = connect(server.url, { concurrency: 2 });
    const ends = await Promise.allSettled(batches(30, 2).map((ids) => client.ask(batchCall(ids))));
    expect(ends.every((end) => end.status === 'rejected' && (end.reason as ExportError).exit === 'notTrusted')).toBe(
      true,
    );
    expect(JSON.stringify(ends.map((end) => (end.status === 'rejected' ? String(end.reason) : '')))).not.toContain(
      'canary',
    );
    expect(server.seen.length).toBeLessThanOrEqual(2);
  });

  it('gives the slot of an answer to another call once it is written down, once', async () => {
    const wire = { ...scriptedClient(), close: () => Promise.resolve() };
    const writing: { key: string; end: () => void }[] = [];
    const append = ({ key }: AnswerEntry): Promise<void> => new Promise((end) => writing.push({ key, end }));
    const journal = { find: () => Promise.resolve(undefined), append };
    const { client } = connect('http://service.invalid', { concurrency: 2, openWire: () => wire, journal });
    const calls = batches(6, 2).map((ids) => batchCall(ids));
    const answers = Promise.all(calls.map((call) => client.ask(call)));
    // The first call goes alone.
    await settled();
    expect(wire.asked).toHaveLength(1);
    for (let written = 0; written < calls.length; written += 1) {
      await settled();
      if (written > 0) expect(wire.asked).toHaveLength(Math.min(written + 2, calls.length));
      writing[written]?.end();
    }
    expect((await answers).map(recordIdsOf)).toEqual(calls.map(({ ids }) => [...ids]));
    expect(writing.map(({ key }) => key)).toEqual(calls.map(callKey));
  });

  it('keeps answers that arrive after stop', async () => {
    const stop = new AbortController();
    const entries = new Map<string, AnswerEntry>();
    const held: (() => void)[] = [];
    const server = await startRoughServer((response, request, n) => {
      if (n === 1) void answerAll(response, request, n);
      else held.push(() => void answerAll(response, request, n));
    });
    const { client } = connect(server.url, { stop: stop.signal, concurrency: 2 }, { entries });
    await client.ask(batchCall([idOf(99)]));
    const work = Promise.allSettled(batches(6, 2).map((ids) => client.ask(batchCall(ids))));
    await server.received(3);
    stop.abort(new ExportError('terminated', 'SIGTERM'));
    held.forEach((answer) => {
      answer();
    });
    const ends = await work;
    expect(ends.map((end) => end.status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
      'rejected',
    ]);
    expect(entries.size).toBe(3);
    expect(server.seen).toHaveLength(3);
  });

  it('remembers a smaller size, and replays the split of a batch without a call', async () => {
    const events: ClientEvent[] = [];
    const entries = new Map<string, AnswerEntry>();
    const server = await startRoughServer((response, request, n) => {
      const { params } = JSON.parse(request.body) as { params: [string[]] };
      if (params[0].length > 30) reply(response, { status: 413, body: 'too large' });
      else void answerAll(response, request, n);
    });
    const created = connect(server.url, {}, { entries, events });
    const ask = (which: CreatedClient, from: number) =>
      lookUpBatch(which.client, {
        ids: IdList.of(idsOf(100, from)),
        flags: noFlags,
        part: 0,
        singles: false,
        reader: rowReader,
      });
    const first = await ask(created, 0);
    // 30 is found with the next batch.
    const sent = server.seen.length;
    await ask(created, 100);
    expect(server.seen.length - sent).toBe(6);
    expect(created.cap()).toBe(30);
    const again = connect(server.url, {}, { entries });
    expect({ ...(await ask(again, 0)), release: undefined }).toEqual({ ...first, release: undefined });
    expect(await ask(again, 100)).toMatchObject({ lookups: { length: 100 } });
    expect(server.seen.length - sent).toBe(6);
    const told = events.flatMap((event) => (event.kind === 'shrunk' ? [event.cap] : []));
    expect(told).toEqual([25, 37, 31, 28, 29, 30]);
  });

  it('learns no size from a kept refusal that was never sent', async () => {
    const entries = new Map<string, AnswerEntry>();
    const sizes: number[] = [];
    const server = await startRoughServer((response, request, n) => {
      const { params } = JSON.parse(request.body) as { params: [string[]] };
      sizes.push(params[0].length);
      if (params[0].length > 30) reply(response, { status: 413, body: 'too large' });
      else void answerAll(response, request, n);
    });
    const askAll = async ({ client }: CreatedClient) => {
      for (const ids of [idsOf(100), idsOf(40, 100)]) {
        await lookUpBatch(client, { ids: IdList.of(ids), flags: noFlags, part: 0, singles: false, reader: rowReader });
      }
    };
    await askAll(connect(server.url, { concurrency: 1 }, { entries }));
    // One alone, as nothing was answered yet; then halves, until other ids were refused, too.
    expect(sizes).toEqual([100, 1, 50, 50, 25, 25, 25, 25, 37, 31, 28, 12]);
    const again = connect(server.url, { sizes: { hint: 25 } }, { entries });
    await askAll(again);
    expect(sizes).toHaveLength(12);
  });
});
