import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../../../src/core/client/asset-client.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { beforeMidnight, budgeted, outcomes, times, today, tomorrow } from '../support/budgeted.ts';
import { batchCall, idOf, recordsOf, refusal } from '../support/calls.ts';
import { settled } from '../../../support/fake-clock.ts';
import { alwaysClient, heldClient, scriptedClient } from '../support/scripted-client.ts';

const call = batchCall([idOf(1)]);
const spentAnswer = new AttemptError('spent', 'HTTP 402: Payment Required', { status: 402 });

describe('withBudget when the service says that its credits are spent', () => {
  // Promise, Nothing overspent: When the service reports a spent day, nothing more is sent
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
    const unsent = new AttemptError('transport', 'connection refused', { unsent: true });
    const reset = new AttemptError('transport', 'reset');
    const busy = new AttemptError('pace', '429', { status: 429 });
    const { client, ledger } = budgeted(scriptedClient([unsent, reset, busy]), { creditsPerRun: 320 });
    for (const error of [unsent, reset, busy]) await expect(client.ask(call)).rejects.toBe(error);
    expect(await ledger.booked(today)).toBe(320);
    await expect(client.ask(call)).rejects.toMatchObject({ exit: 'spent' });
  });

  it('tells its caller of each attempt that cost nothing, and whether it was sent', async () => {
    const told: string[] = [];
    const unsent = new AttemptError('transport', 'connection refused', { unsent: true });
    const reset = new AttemptError('transport', 'reset');
    const busy = new AttemptError('pace', '429', { status: 429 });
    const { client } = budgeted(scriptedClient([unsent, reset, busy]), {
      freeStatuses: [429],
      onCall: async () => void told.push('call'),
      onFree: async ({ sent }) => void told.push(sent ? 'free' : 'unsent'),
    });
    for (const error of [unsent, reset, busy]) await expect(client.ask(call)).rejects.toBe(error);
    expect(told).toEqual(['call', 'unsent', 'call', 'call', 'free']);
  });

  it('gives back statuses that the job calls free', async () => {
    const busy = new AttemptError('pace', '429', { status: 429 });
    const refused = new ExportError('notTrusted', 'no', { why: { kind: 'refused', status: 401 } });
    const { client, ledger } = budgeted(scriptedClient([busy, refused]), {
      freeStatuses: [429, 401],
      creditsPerRun: 160,
    });
    await expect(client.ask(call)).rejects.toBe(busy);
    await expect(client.ask(call)).rejects.toBe(refused);
    expect(await ledger.booked(today)).toBe(0);
  });

  it('gives a refused call back, too, when its status is free', async () => {
    const tooLarge = { ...refusal('size'), status: 413 };
    const unfit = { ...refusal('id'), status: 400 };
    const told: boolean[] = [];
    const { client, ledger } = budgeted(scriptedClient([tooLarge, unfit]), {
      freeStatuses: [413],
      onFree: async ({ sent }) => void told.push(sent),
    });
    expect(await client.ask(call)).toBe(tooLarge);
    expect(await ledger.booked(today)).toBe(0);
    expect(await client.ask(call)).toBe(unfit);
    expect(await ledger.booked(today)).toBe(160);
    expect(told).toEqual([true]);
  });

  it('sends nothing after the key was refused', async () => {
    const refused = new ExportError('notTrusted', 'no');
    const inner = scriptedClient([refused]);
    const { client } = budgeted(inner);
    await expect(client.ask(call)).rejects.toBe(refused);
    await expect(client.ask(call)).rejects.toBe(refused);
    expect(inner.asked).toHaveLength(1);
  });

  it('sends nothing either while the credits of that call are given back', async () => {
    const refused = new ExportError('notTrusted', 'no', { why: { kind: 'refused', status: 401 } });
    const inner = scriptedClient([refused]);
    let meanwhile: Promise<unknown> = Promise.resolve();
    const { client } = budgeted(inner, {
      freeStatuses: [401],
      onFree: async () => {
        meanwhile = client.ask(call).catch((error: unknown) => error);
        await meanwhile;
      },
    });
    await expect(client.ask(call)).rejects.toBe(refused);
    expect(await meanwhile).toBe(refused);
    expect(inner.asked).toHaveLength(1);
  });

  it('sends nothing after a balance is spent, though what that call cost is still being given back', async () => {
    const inner = scriptedClient([spentAnswer]);
    const later: Promise<string[]>[] = [];
    const { client } = budgeted(inner, {
      freeStatuses: [402],
      onFree: async () => {
        later.push(outcomes([client.ask(call)]));
        await settled();
      },
    });
    expect(await outcomes([client.ask(call)])).toEqual(['spent']);
    expect(await Promise.all(later)).toEqual([['spent']]);
    expect(inner.asked).toHaveLength(1);
  });

  it('does not send what was still being counted as the key was refused', async () => {
    const inner = scriptedClient([new ExportError('notTrusted', 'no')]);
    const told: boolean[] = [];
    const counted = [settled(), settled().then(settled)];
    const { client, ledger } = budgeted(inner, {
      onCall: () => counted.shift() ?? Promise.resolve(),
      onFree: async ({ sent }) => void told.push(sent),
    });
    const ends = await outcomes([client.ask(call), client.ask(call)]);
    expect(ends).toEqual(['notTrusted', 'notTrusted']);
    expect(inner.asked).toHaveLength(1);
    expect(told).toEqual([false]);
    expect(await ledger.booked(today)).toBe(160);
  });
});

describe('withBudget around midnight', () => {
  // Promise, Nothing overspent: A call that may outlast the day is booked on both days
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
    inner.open[1]?.end(new AttemptError('transport', 'reset'));
    await answered;
    await expect(cut).rejects.toThrow('reset');
    expect([await ledger.booked(today), await ledger.booked(tomorrow)]).toEqual([320, 160]);
  });

  it.each([
    ['may outlast the day', -65_000, [160, 160]],
    ['is of the new day', -5000, [0, 160]],
  ])('books a call anew that %s by the time it is counted', async (_, fromMidnightMs, expected) => {
    const bookedWhenSent: number[][] = [];
    const told: boolean[] = [];
    const inner = alwaysClient(async (asked) => {
      bookedWhenSent.push([await ledger.booked(today), await ledger.booked(tomorrow)]);
      return recordsOf(asked);
    });
    const { client, clock, ledger } = budgeted(inner, {
      startMs: Date.UTC(2026, 2, 15) + fromMidnightMs,
      onCall: () => clock.sleep(10_000),
      onFree: async ({ sent }) => void told.push(sent),
    });
    await clock.runUntil(client.ask(call));
    expect(bookedWhenSent).toEqual([expected]);
    expect(told).toEqual([false]);
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

  it('sends a call that is booked already when the stop comes, and none after it', async () => {
    const stop = new AbortController();
    const inner = scriptedClient();
    const { client, ledger } = budgeted(inner, {
      stop: stop.signal,
      onCall: async () => {
        stop.abort(new Error('SIGINT'));
      },
    });
    expect(await client.ask(call)).toMatchObject({ kind: 'records' });
    await expect(client.ask(call)).rejects.toThrow('SIGINT');
    expect(inner.asked).toHaveLength(1);
    expect(await ledger.booked(today)).toBe(160);
  });
});
