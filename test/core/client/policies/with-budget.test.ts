import { describe, expect, it } from 'vitest';
import { createMemoryLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';
import { type AnswerEntry, withJournal } from '../../../../src/core/client/policies/with-journal.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { budgeted, nineOClock, outcomes, times, today, tomorrow } from '../support/budgeted.ts';
import { batchCall, idOf, recordsOf } from '../support/calls.ts';
import { settled } from '../../../support/fake-clock.ts';
import { alwaysClient, scriptedClient } from '../support/scripted-client.ts';

const call = batchCall([idOf(1)]);

describe('withBudget', () => {
  // Promise, Nothing overspent: However many calls start at once, each is booked before it is sent; none passes the budget
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

  it('passes an answer on that the ledger cannot settle, so that it is kept, and ends with the next call', async () => {
    const failure = new ExportError('cannotWrite', 'disk full');
    const ledger = { ...createMemoryLedger(), settle: () => Promise.reject(failure) };
    const inner = scriptedClient();
    const kept: AnswerEntry[] = [];
    const client = withJournal(budgeted(inner, { ledger }).client, {
      journal: { find: () => Promise.resolve(undefined), append: async (entry) => void kept.push(entry) },
    });
    expect(await client.ask(call)).toEqual(recordsOf(call));
    expect(kept).toHaveLength(1);
    await expect(client.ask(call)).rejects.toBe(failure);
    expect(inner.asked).toHaveLength(1);
    expect(await ledger.booked(today)).toBe(160);
  });

  it('says which limit of the run is spent and that the command goes on at once', async () => {
    const { client } = budgeted(scriptedClient(), { creditsPerRun: 160, whenSpent: 'wait' });
    await client.ask(call);
    await expect(client.ask(call)).rejects.toMatchObject({
      exit: 'spent',
      message: "This run's budget is spent: 160 credits booked, --credits-per-run is 160.",
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
      message: "The day's budget (--credits-per-day 300) is spent.",
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
      { untilMs: Date.UTC(2026, 2, 15), reason: "The day's budget (--credits-per-day 320) is spent" },
      { untilMs: Date.UTC(2026, 2, 16) },
    ]);
  });

  it('refuses a day that is smaller than one call, as waiting would never end', () => {
    expect(() => budgeted(scriptedClient(), { creditsPerDay: 159 })).toThrow(
      /--credits-per-day 159 is below the price of one call/,
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

  it('keeps that pace when the clock is set back, and owes nothing for it', async () => {
    const inner = scriptedClient();
    const { client, clock } = budgeted(inner, { creditsPerSecond: 160 });
    const early = times(3, () => client.ask(call));
    await settled();
    clock.setBack(3_600_000);
    const late = client.ask(call);
    await clock.advance(2999);
    expect(inner.asked).toHaveLength(3);
    await clock.advance(1);
    await Promise.all([...early, late]);
    await clock.advance(1000);
    await client.ask(call);
    expect(inner.asked).toHaveLength(5);
  });
});
