import { describe, expect, it } from 'vitest';
import { createMemoryLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';
import { Ended } from '../../../../src/core/client/policies/day-gate.ts';
import { withBudget } from '../../../../src/core/client/policies/with-budget.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { createFakeClock, settled } from '../../../support/fake-clock.ts';
import { times, today } from '../support/budgeted.ts';
import { batchCall, idOf } from '../support/calls.ts';
import { heldClient } from '../support/scripted-client.ts';

const call = batchCall([idOf(1)]);
const down = new ExportError('unavailable', 'no answer');

function endedBudget(onCall?: () => Promise<void>) {
  const clock = createFakeClock();
  const ledger = createMemoryLedger();
  const inner = heldClient();
  const ended = new Ended();
  const free: boolean[] = [];
  const client = withBudget(inner, {
    clock,
    ledger,
    ended,
    onCall,
    creditsPerCall: 160,
    creditsPerSecond: 160,
    timeoutMs: 60_000,
    whenSpent: 'stop',
    onFree: async ({ sent }) => void free.push(sent),
  });
  return { client, clock, ledger, inner, ended, free };
}

describe('an error that another policy ends a client with', () => {
  it('reaches every call that waits for its turn, and nothing is booked for them', async () => {
    const { client, clock, ledger, inner, ended } = endedBudget();
    const first = client.ask(call);
    const waiting = Promise.allSettled(times(4, () => client.ask(call)));
    await settled();
    ended.end(down);
    await clock.advance(10_000);
    expect(await waiting).toEqual(times(4, () => ({ status: 'rejected', reason: down })));
    expect(inner.open).toHaveLength(1);
    expect(await ledger.booked(today)).toBe(160);
    inner.open[0]?.end();
    expect(await first).toMatchObject({ kind: 'records' });
    await expect(client.ask(call)).rejects.toBe(down);
  });

  it('reaches a call that is being counted: it is given back', async () => {
    let endCounting = (): void => undefined;
    const counted = new Promise<void>((resolve) => {
      endCounting = resolve;
    });
    const { client, ledger, inner, ended, free } = endedBudget(() => counted);
    const work = client.ask(call).catch((error: unknown) => error);
    await settled();
    ended.end(down);
    endCounting();
    expect(await work).toBe(down);
    expect(inner.open).toHaveLength(0);
    expect(free).toEqual([false]);
    expect(await ledger.booked(today)).toBe(0);
  });

  it('is the first of several, and gives way to a stop', () => {
    const stop = new AbortController();
    const ended = new Ended(stop.signal);
    ended.throwIfEnded();
    ended.end(down);
    ended.end(new ExportError('spent', 'later'));
    expect(ended.failure()).toBe(down);
    expect(() => {
      ended.throwIfEnded();
    }).toThrow(down);
    const reason = new ExportError('terminated', 'SIGTERM');
    stop.abort(reason);
    expect(() => {
      ended.throwIfEnded();
    }).toThrow(reason);
  });
});
