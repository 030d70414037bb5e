import { describe, expect, it } from 'vitest';
import { IdList } from '../../../../src/core/ids/id-list.ts';
import { aloneIn, type AssetAnswer, type AssetClient, AttemptError } from '../../../../src/core/client/asset-client.ts';
import { type ClientOptions, createClient } from '../../../../src/core/client/create-client.ts';
import { createMemoryLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';
import { createLocalPace } from '../../../../src/core/client/policies/shared-pace.ts';
import { budgeted, nineOClock, times, today, tomorrow } from '../support/budgeted.ts';
import { batchCall, idOf, idsOf, recordsOf, refusal } from '../support/calls.ts';
import { createFakeClock, settled } from '../../../support/fake-clock.ts';
import { alwaysClient, heldClient } from '../support/scripted-client.ts';

const call = batchCall([idOf(1)]);
const spentAnswer = new AttemptError('spent', 'HTTP 402: Payment Required', { status: 402 });

/** All policies, with a call a second, around what stands for the wire. */
function paced(wire: AssetClient, options: Partial<ClientOptions> = {}) {
  const clock = options.clock ?? createFakeClock();
  const ledger = createMemoryLedger();
  const created = createClient({
    url: 'http://127.0.0.1:9',
    apiKey: 'key',
    concurrency: 4,
    timeoutMs: 60_000,
    retries: 8,
    budget: { creditsPerCall: 160, creditsPerSecond: 160, whenSpent: 'stop' },
    ledger,
    journal: { find: () => Promise.resolve(undefined), append: () => Promise.resolve() },
    random: () => 0,
    clock,
    ...options,
  });
  const ask = (ids: readonly string[]): Promise<AssetAnswer> =>
    created.askUnderPolicies({
      ids: IdList.of(ids),
      send: () => wire.ask(batchCall(ids)),
      sendAlone: (id) => wire.ask(aloneIn(batchCall(ids), id)),
    });
  return { ask, ledger };
}

describe('a call that waits for its pace', () => {
  it('gives its turn back when it is not sent', async () => {
    const unused: number[] = [];
    const pace = {
      ...createLocalPace(createFakeClock(), undefined),
      unused: (credits: number) => void unused.push(credits),
    };
    const turn = { ...pace, turn: () => Promise.resolve(60_000) };
    const inner = heldClient();
    await expect(budgeted(inner, { pace, mayLeave: () => false }).client.ask(call)).rejects.toMatchObject({
      failure: 'held',
    });
    expect(unused).toEqual([160]);
    const stop = new AbortController();
    const stopped = budgeted(inner, { pace: turn, stop: stop.signal }).client.ask(call);
    await settled();
    stop.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    expect(unused).toEqual([160, 160]);
    expect(inner.open).toHaveLength(0);
  });

  it('waits for the new day too, once the service says that its credits are spent', async () => {
    const inner = heldClient();
    const { client, clock, ledger } = budgeted(inner, { creditsPerSecond: 160, whenSpent: 'wait' });
    for (const work of times(4, () => client.ask(call))) work.catch(() => undefined);
    await settled();
    inner.open[0]?.end(spentAnswer);
    await clock.advance(10_000);
    expect(inner.open).toHaveLength(1);
    expect(await ledger.booked(today)).toBe(160);
    await clock.advance(Date.UTC(2026, 2, 15) - clock.now());
    expect(inner.open).toHaveLength(2);
    await clock.advance(3000);
    expect(inner.open).toHaveLength(5);
    expect(await ledger.booked(tomorrow)).toBe(4 * 160);
  });

  it('is not sent in a pause of all calls, and takes its turn after it', async () => {
    const clock = createFakeClock();
    const sentMs: number[] = [];
    const wire = alwaysClient((asked) => {
      const n = sentMs.push(clock.now() - nineOClock);
      return n === 1 ? new AttemptError('pace', 'HTTP 429', { status: 429, waitMs: 30_000 }) : recordsOf(asked);
    });
    const { ask } = paced(wire, { clock });
    await clock.runUntil(Promise.all(times(4, () => ask(idsOf(2)))));
    expect(sentMs).toEqual([0, 30_000, 31_000, 32_000, 33_000]);
  });

  it('is not sent when its size is refused meanwhile', async () => {
    const clock = createFakeClock();
    const wire = alwaysClient((asked) => (asked.ids.length > 5 ? refusal('size') : recordsOf(asked)));
    const { ask, ledger } = paced(wire, { clock });
    const answers = await clock.runUntil(Promise.all([0, 1, 2, 3].map((n) => ask(idsOf(10, 10 * n)))));
    expect(answers).toMatchObject(times(4, () => ({ kind: 'refused', why: 'size' })));
    // One id alone, as nothing was answered yet; then a second call, for other ids, makes it believed.
    expect(wire.asked.map(({ ids }) => ids.length)).toEqual([10, 1, 10]);
    expect(await ledger.booked(today)).toBe(480);
    expect(await clock.runUntil(ask(idsOf(5)))).toMatchObject({ kind: 'records' });
  });

  it('ends with the reason of a stop that comes in a pause', async () => {
    const clock = createFakeClock();
    const stop = new AbortController();
    const wire = alwaysClient(new AttemptError('pace', 'HTTP 429', { status: 429, waitMs: 30_000 }));
    const { ask } = paced(wire, { clock, stop: stop.signal });
    const ends = Promise.allSettled(times(4, () => ask(idsOf(2))));
    await clock.advance(10_000);
    const reason = new Error('SIGTERM');
    stop.abort(reason);
    expect(await ends).toEqual(times(4, () => ({ status: 'rejected', reason })));
    expect(wire.asked).toHaveLength(1);
  });
});

describe('a call that is being counted as the service says that its credits are spent', () => {
  it('is given back, and sent on the new day', async () => {
    const inner = heldClient();
    const told: boolean[] = [];
    let endCounting = (): void => undefined;
    const second = new Promise<void>((resolve) => {
      endCounting = resolve;
    });
    const counted = [Promise.resolve(), second];
    const { client, clock, ledger } = budgeted(inner, {
      whenSpent: 'wait',
      onCall: () => counted.shift() ?? Promise.resolve(),
      onFree: async ({ sent }) => void told.push(sent),
    });
    for (const work of times(2, () => client.ask(call))) work.catch(() => undefined);
    await settled();
    inner.open[0]?.end(spentAnswer);
    await settled();
    endCounting();
    await settled();
    expect(inner.open).toHaveLength(1);
    expect(told).toEqual([false]);
    expect(await ledger.booked(today)).toBe(160);
    await clock.advance(Date.UTC(2026, 2, 15) - clock.now());
    expect(inner.open).toHaveLength(3);
  });
});
