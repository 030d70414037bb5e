import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../src/client/attempt-error.ts';
import type { ClientEvent } from '../../src/client/client-events.ts';
import type { CreditLedger } from '../../src/client/credit-ledger.ts';
import { createMemoryLedger } from '../../src/client/memory-ledger.ts';
import { type BudgetOptions, withBudget } from '../../src/client/with-budget.ts';
import { ExportError } from '../../src/lib/export-error.ts';
import { batchCall, idOf, recordsOf } from './support/calls.ts';
import { createFakeClock, type FakeClock, settled } from './support/fake-clock.ts';
import { alwaysClient, heldClient, scriptedClient } from './support/scripted-client.ts';
import type { AssetClient } from '../../src/client/asset-client.ts';

const call = batchCall([idOf(1)]);
const today = '2026-03-14';
const tomorrow = '2026-03-15';
const nineOClock = Date.UTC(2026, 2, 14, 9, 0, 0);
const beforeMidnight = Date.UTC(2026, 2, 14, 23, 59, 50);
const spentAnswer = new AttemptError('spent', 'HTTP 402: Payment Required', { status: 402 });

interface Budgeted {
  readonly client: AssetClient;
  readonly clock: FakeClock;
  readonly ledger: CreditLedger;
  readonly events: ClientEvent[];
}

function budgeted(inner: AssetClient, options: Partial<BudgetOptions> & { startMs?: number } = {}): Budgeted {
  const clock = createFakeClock(options.startMs ?? nineOClock);
  const ledger = options.ledger ?? createMemoryLedger();
  const events: ClientEvent[] = [];
  const client = withBudget(inner, {
    clock,
    creditsPerCall: 160,
    whenSpent: 'stop',
    timeoutMs: 60_000,
    listener: (event) => events.push(event),
    ...options,
    ledger,
  });
  return { client, clock, ledger, events };
}

async function outcomes(work: readonly Promise<unknown>[]): Promise<string[]> {
  const settledWork = await Promise.allSettled(work);
  return settledWork.map((each) => (each.status === 'fulfilled' ? 'answered' : (each.reason as ExportError).exit));
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}

describe('withBudget', () => {
  it('books each attempt before it is sent', async () => {
    const bookedWhenSent: number[] = [];
    const inner = alwaysClient(async (asked) => {
      bookedWhenSent.push(await ledger.booked(today));
      return recordsOf(asked);
    });
    const { client, ledger } = budgeted(inner);
    await client.ask(call);
    await client.ask(call);
    expect(bookedWhenSent).toEqual([160, 320]);
  });

  it('waits until the caller has counted a call, and sends nothing when that fails', async () => {
    const order: string[] = [];
    const inner = alwaysClient((asked) => {
      order.push('sent');
      return recordsOf(asked);
    });
    const failure = new ExportError('cannotWrite', 'disk full');
    const { client, ledger } = budgeted(inner, {
      onCall: async () => {
        await settled();
        order.push('counted');
        if (order.length > 2) throw failure;
      },
    });
    await client.ask(call);
    await expect(client.ask(call)).rejects.toBe(failure);
    expect(order).toEqual(['counted', 'sent', 'counted']);
    expect(await ledger.booked(today)).toBe(160);
  });

  it('sends exactly as many calls as the run may cost, however many are asked at once', async () => {
    const inner = scriptedClient();
    const { client, ledger } = budgeted(inner, { creditsPerRun: 5 * 160 + 159 });
    const ends = await outcomes(times(20, () => client.ask(call)));
    expect(ends.filter((end) => end === 'answered')).toHaveLength(5);
    expect(ends.filter((end) => end === 'spent')).toHaveLength(15);
    expect(inner.asked).toHaveLength(5);
    expect(await ledger.booked(today)).toBe(800);
  });

  it('says which limit of the run is spent and that the command goes on at once', async () => {
    const { client } = budgeted(scriptedClient(), { creditsPerRun: 160, whenSpent: 'wait' });
    await client.ask(call);
    await expect(client.ask(call)).rejects.toMatchObject({
      exit: 'spent',
      message: "This run's budget is spent: 160 credits booked, creditsPerRun is 160.",
      todo: expect.stringMatching(/same command again/) as string,
      facts: { limit: 'creditsPerRun', runAgainAt: 'now' },
    });
  });

  it('says which limit of the day is spent and when to run again', async () => {
    const startMs = Date.UTC(2026, 2, 14, 18, 47, 30);
    const { client } = budgeted(scriptedClient(), { creditsPerDay: 300, startMs });
    await client.ask(call);
    await expect(client.ask(call)).rejects.toMatchObject({
      exit: 'spent',
      message: "The day's budget (creditsPerDay 300) is spent.",
      todo: expect.stringContaining('after 2026-03-15 00:00 UTC (in 5 h 13 min)') as string,
      facts: { limit: 'creditsPerDay', runAgainAt: '2026-03-15T00:00Z' },
    });
  });

  it('shares the day with whoever else books on the ledger', async () => {
    const ledger = createMemoryLedger();
    await ledger.reserve({ day: today, credits: 640 });
    const inner = scriptedClient();
    const { client } = budgeted(inner, { ledger, creditsPerDay: 800 });
    expect(await outcomes(times(3, () => client.ask(call)))).toEqual(['answered', 'spent', 'spent']);
    expect(await ledger.booked(today)).toBe(800);
  });

  it('waits for midnight and goes on where the job says so', async () => {
    const inner = scriptedClient();
    const { client, clock, ledger, events } = budgeted(inner, { creditsPerDay: 320, whenSpent: 'wait' });
    const work = Promise.all(times(5, () => client.ask(call)));
    await clock.advance(15 * 3_600_000 - 1);
    expect(inner.asked).toHaveLength(2);
    await clock.runUntil(work);
    expect(inner.asked).toHaveLength(5);
    expect(await ledger.booked(tomorrow)).toBe(320);
    expect(await ledger.booked('2026-03-16')).toBe(160);
    expect(events.filter((event) => event.kind === 'waiting')).toMatchObject([
      { untilMs: Date.UTC(2026, 2, 15), reason: "The day's budget (creditsPerDay 320) is spent" },
      { untilMs: Date.UTC(2026, 2, 16) },
    ]);
  });

  it('refuses a day that is smaller than one call, as waiting would never end', () => {
    expect(() => budgeted(scriptedClient(), { creditsPerDay: 159 })).toThrow(
      /creditsPerDay \(159\) is less than one call/,
    );
  });

  it('spaces attempts evenly under a limit of credits a second', async () => {
    const sentMs: number[] = [];
    const inner = alwaysClient((asked) => {
      sentMs.push(clock.now() - nineOClock);
      return recordsOf(asked);
    });
    const { client, clock } = budgeted(inner, { creditsPerSecond: 500 });
    await clock.runUntil(Promise.all(times(6, () => client.ask(call))));
    expect(sentMs).toEqual([0, 320, 640, 960, 1280, 1600]);
    await clock.advance(10_000);
    await clock.runUntil(client.ask(call));
    expect(sentMs.at(-1)).toBe(11_600);
  });
});

describe('withBudget when the service says that its credits are spent', () => {
  it('sends nothing more and gives up with the hour to run again', async () => {
    const inner = scriptedClient([spentAnswer]);
    const { client } = budgeted(inner);
    const failure: unknown = await client.ask(call).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      exit: 'spent',
      cause: spentAnswer,
      facts: { limit: 'the service', runAgainAt: '2026-03-15T00:00Z' },
    });
    expect((failure as ExportError).message).toContain('HTTP 402: Payment Required');
    await expect(client.ask(call)).rejects.toBe(failure);
    expect(inner.asked).toHaveLength(1);
  });

  it('waits for its new day and asks again where the job says so', async () => {
    const inner = scriptedClient([spentAnswer]);
    const { client, clock, ledger } = budgeted(inner, { whenSpent: 'wait' });
    expect(await clock.runUntil(client.ask(call))).toEqual(recordsOf(call));
    expect(clock.now()).toBe(Date.UTC(2026, 2, 15));
    expect(await ledger.booked(today)).toBe(160);
    expect(await ledger.booked(tomorrow)).toBe(160);
  });

  it('gives a service whose clock is behind a minute, not a day', async () => {
    const inner = scriptedClient([spentAnswer, spentAnswer, spentAnswer]);
    const { client, clock } = budgeted(inner, { whenSpent: 'wait' });
    await clock.runUntil(client.ask(call));
    expect(clock.now()).toBe(Date.UTC(2026, 2, 15, 0, 2));
  });

  it('does not hold a refusal of yesterday against today', async () => {
    const inner = heldClient();
    const { client, clock } = budgeted(inner, { startMs: beforeMidnight });
    const work = client.ask(call);
    await clock.advance(20_000);
    inner.open[0]?.end(spentAnswer);
    await settled();
    inner.open[1]?.end();
    expect(await work).toEqual(recordsOf(call));
  });
});

describe('withBudget on what a failed attempt costs', () => {
  it('gives back what surely never left, and nothing else', async () => {
    const unsent = new AttemptError('transient', 'connection refused', { unsent: true });
    const reset = new AttemptError('transient', 'reset');
    const busy = new AttemptError('throttled', '429', { status: 429 });
    const { client, ledger } = budgeted(scriptedClient([unsent, reset, busy]), { creditsPerRun: 320 });
    for (const error of [unsent, reset, busy]) await expect(client.ask(call)).rejects.toBe(error);
    expect(await ledger.booked(today)).toBe(320);
    await expect(client.ask(call)).rejects.toMatchObject({ exit: 'spent' });
  });

  it('gives back statuses that the job calls free', async () => {
    const busy = new AttemptError('throttled', '429', { status: 429 });
    const refused = new ExportError('keyRefused', 'no', { facts: { status: 401 } });
    const { client, ledger } = budgeted(scriptedClient([busy, refused]), {
      freeStatuses: [429, 401],
      creditsPerRun: 160,
    });
    await expect(client.ask(call)).rejects.toBe(busy);
    await expect(client.ask(call)).rejects.toBe(refused);
    expect(await ledger.booked(today)).toBe(0);
  });

  it('sends nothing after the key was refused', async () => {
    const refused = new ExportError('keyRefused', 'no');
    const inner = scriptedClient([refused]);
    const { client } = budgeted(inner);
    await expect(client.ask(call)).rejects.toBe(refused);
    await expect(client.ask(call)).rejects.toBe(refused);
    expect(inner.asked).toHaveLength(1);
  });
});

describe('withBudget around midnight', () => {
  it('books a call on both days while it may outlast the day', async () => {
    const inner = heldClient();
    const { client, clock, ledger } = budgeted(inner, { startMs: beforeMidnight });
    const work = client.ask(call);
    await settled();
    expect([await ledger.booked(today), await ledger.booked(tomorrow)]).toEqual([160, 160]);
    await clock.advance(15_000);
    inner.open[0]?.end();
    await work;
    expect([await ledger.booked(today), await ledger.booked(tomorrow)]).toEqual([160, 160]);
  });

  it('gives the second day back when the answer is there before midnight, but not for a cut connection', async () => {
    const inner = heldClient();
    const { client, clock, ledger } = budgeted(inner, { startMs: beforeMidnight });
    const answered = client.ask(call);
    const cut = client.ask(call);
    await clock.advance(5000);
    inner.open[0]?.end();
    inner.open[1]?.end(new AttemptError('transient', 'reset'));
    await answered;
    await expect(cut).rejects.toThrow('reset');
    expect([await ledger.booked(today), await ledger.booked(tomorrow)]).toEqual([320, 160]);
  });

  it('never books more on either day than its budget', async () => {
    const inner = heldClient();
    const { client, clock, ledger } = budgeted(inner, { startMs: beforeMidnight, creditsPerDay: 320 });
    const work = times(4, () => client.ask(call));
    const ends = outcomes(work);
    await clock.advance(15_000);
    inner.open.forEach((each) => {
      each.end();
    });
    expect((await ends).filter((end) => end === 'answered')).toHaveLength(2);
    await expect(client.ask(call)).rejects.toMatchObject({ exit: 'spent' });
    expect([await ledger.booked(today), await ledger.booked(tomorrow)]).toEqual([320, 320]);
  });
});

describe('withBudget and stop', () => {
  it('ends waits for midnight and for the pace with its reason, and begins nothing after', async () => {
    const stop = new AbortController();
    const reason = new ExportError('terminated', 'SIGTERM');
    const inner = scriptedClient();
    const waiting = budgeted(inner, { creditsPerDay: 160, whenSpent: 'wait', stop: stop.signal });
    const paced = budgeted(inner, { creditsPerSecond: 1, stop: stop.signal });
    await waiting.client.ask(call);
    await paced.client.ask(call);
    const work = [waiting.client.ask(call), paced.client.ask(call)];
    await settled();
    stop.abort(reason);
    for (const each of work) await expect(each).rejects.toBe(reason);
    await expect(waiting.client.ask(call)).rejects.toBe(reason);
    expect(inner.asked).toHaveLength(2);
  });

  it('gives back what was booked for a call that stop kept from being sent', async () => {
    const stop = new AbortController();
    const inner = scriptedClient();
    const { client, ledger } = budgeted(inner, {
      stop: stop.signal,
      onCall: async () => {
        stop.abort(new Error('SIGINT'));
      },
    });
    await expect(client.ask(call)).rejects.toThrow('SIGINT');
    expect(inner.asked).toHaveLength(0);
    expect(await ledger.booked(today)).toBe(0);
  });
});
