import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../../src/client/attempt-error.ts';
import type { ClientEvent } from '../../../src/client/client-events.ts';
import { type ConcurrencyOptions, withConcurrency } from '../../../src/client/policies/with-concurrency.ts';
import { batchCall, idOf, recordsOf } from '../support/calls.ts';
import { createFakeClock, settled } from '../../support/fake-clock.ts';
import { heldClient } from '../support/scripted-client.ts';

const calls = Array.from({ length: 40 }, (_, n) => batchCall([idOf(n)]));

function tooFast(waitMs?: number): AttemptError {
  return new AttemptError('throttled', 'HTTP 429', { status: 429, waitMs });
}

function limited(options: Partial<ConcurrencyOptions> = {}) {
  const clock = createFakeClock();
  const inner = heldClient();
  const events: ClientEvent[] = [];
  const client = withConcurrency(inner, {
    concurrency: 4,
    maxPauses: 8,
    clock,
    random: () => 0.5,
    listener: (event) => events.push(event),
    ...options,
  });
  return { clock, inner, client, events, open: inner.open };
}

/** Ends the oldest open call. */
function endOldest(open: ReturnType<typeof heldClient>['open'], outcome?: AttemptError): void {
  open.shift()?.end(outcome);
}

describe('withConcurrency', () => {
  it('holds at most so many calls open, in order', async () => {
    const { client, open } = limited();
    const answers = Promise.all(calls.slice(0, 6).map((call) => client.ask(call)));
    await settled();
    expect(open.map(({ call }) => call)).toEqual(calls.slice(0, 4));
    endOldest(open);
    await settled();
    expect(open.map(({ call }) => call)).toEqual(calls.slice(1, 5));
    while (open.length > 0) {
      endOldest(open);
      await settled();
    }
    expect(await answers).toEqual(calls.slice(0, 6).map((call) => recordsOf(call)));
  });

  it('pauses all calls together when one is throttled, and goes on with half as many', async () => {
    const { client, open, clock, events } = limited();
    const answers = calls.slice(0, 8).map((call) => client.ask(call));
    answers.forEach((answer) => void answer.catch(() => undefined));
    await settled();
    endOldest(open, tooFast(5000));
    await expect(answers[0]).rejects.toThrow('429');
    endOldest(open);
    await settled();
    expect(open).toHaveLength(2);
    expect(events).toEqual([{ kind: 'paused', untilMs: clock.now() + 5000, reason: 'HTTP 429', concurrency: 2 }]);
    await clock.advance(4999);
    expect(open).toHaveLength(2);
    endOldest(open);
    endOldest(open);
    await clock.advance(1);
    expect(open.map(({ call }) => call)).toEqual(calls.slice(4, 6));
  });

  it.each([
    [0, 1000],
    [86_400_000, 60_000],
    [7000, 7000],
  ])('holds a wait of %i ms between a floor and a cap: %i ms', async (waitMs, heldMs) => {
    const { client, open, clock, events } = limited();
    client.ask(batchCall([idOf(1)])).catch(() => undefined);
    await settled();
    endOldest(open, tooFast(waitMs));
    await settled();
    expect(events).toMatchObject([{ kind: 'paused', untilMs: clock.now() + heldMs }]);
  });

  it('waits longer each time when the service does not say how long', async () => {
    const { client, open, clock, events } = limited({ random: () => 1 - Number.EPSILON });
    for (let n = 0; n < 8; n += 1) {
      client.ask(batchCall([idOf(n)])).catch(() => undefined);
      await settled();
      endOldest(open, tooFast());
      await clock.advance(60_000);
    }
    const starts = clock.now() - 8 * 60_000;
    const waits = events.flatMap((event) => (event.kind === 'paused' ? [event.untilMs - starts] : []));
    expect(waits.map((untilMs, n) => untilMs - n * 60_000)).toEqual([
      2000, 3000, 5000, 9000, 17_000, 33_000, 60_000, 60_000,
    ]);
  });

  it('counts one pause however many calls in flight are throttled, and lets a longer wait win', async () => {
    const { client, open, clock, events } = limited();
    calls.slice(0, 5).forEach((call) => void client.ask(call).catch(() => undefined));
    await settled();
    [tooFast(2000), tooFast(), tooFast(3000), tooFast(1000)].forEach((error) => {
      endOldest(open, error);
    });
    await settled();
    expect(events).toMatchObject([
      { untilMs: clock.now() + 2000, concurrency: 2 },
      { untilMs: clock.now() + 3000, concurrency: 2 },
    ]);
    await clock.advance(2999);
    expect(open).toHaveLength(0);
    await clock.advance(1);
    expect(open).toHaveLength(1);
  });

  it('pauses no longer when the clock is set back', async () => {
    const { client, open, clock } = limited();
    calls.slice(0, 5).forEach((call) => void client.ask(call).catch(() => undefined));
    await settled();
    endOldest(open, tooFast(2000));
    endOldest(open, tooFast(3000));
    await settled();
    clock.setBack(3_600_000);
    await clock.advance(2999);
    expect(client.isPaused()).toBe(true);
    await clock.advance(1);
    expect(client.isPaused()).toBe(false);
  });

  it('never goes below one call at once, and grows back by one after a run of successes', async () => {
    const { client, open, clock } = limited({ concurrency: 3 });
    for (let n = 0; n < 4; n += 1) {
      client.ask(batchCall([idOf(n)])).catch(() => undefined);
      await settled();
      endOldest(open, tooFast(1000));
      await clock.advance(1000);
    }
    expect(client.limit()).toBe(1);
    const limits: number[] = [];
    for (const call of calls.slice(0, 8)) {
      void client.ask(call);
      await settled();
      endOldest(open);
      await settled();
      limits.push(client.limit());
    }
    expect(limits).toEqual([1, 2, 2, 2, 2, 3, 3, 3]);
  });

  it('calls the service unavailable after so many pauses without a call that gets through', async () => {
    const { client, open, clock } = limited({ maxPauses: 2 });
    const throttle = async (): Promise<unknown> => {
      const failure = client.ask(batchCall([idOf(1)])).catch((error: unknown) => error);
      await settled();
      const error = tooFast(86_400_000);
      endOldest(open, error);
      await clock.advance(60_000);
      return (await failure) === error ? 'paused' : failure;
    };
    expect([await throttle(), await throttle()]).toEqual(['paused', 'paused']);
    void client.ask(batchCall([idOf(2)]));
    await settled();
    endOldest(open);
    await settled();
    expect([await throttle(), await throttle()]).toEqual(['paused', 'paused']);
    expect(await throttle()).toMatchObject({ exit: 'unavailable', facts: { pauses: 2, status: 429 } });
  });

  it('asks what was held back in a pause again after it, before calls that have not begun', async () => {
    const { client, open, clock } = limited({ concurrency: 2 });
    const answers = calls.slice(0, 3).map((call) => client.ask(call));
    void answers[0]?.catch(() => undefined);
    await settled();
    endOldest(open, tooFast(1000));
    await settled();
    expect(client.isPaused()).toBe(true);
    endOldest(open, new AttemptError('held', 'not now'));
    await clock.advance(999);
    expect(open).toHaveLength(0);
    await clock.advance(1);
    expect(client.isPaused()).toBe(false);
    expect(open.map(({ call }) => call)).toEqual([calls[1]]);
    endOldest(open);
    await settled();
    endOldest(open);
    expect(await Promise.all(answers.slice(1))).toHaveLength(2);
  });

  it('begins nothing after stop: calls that wait end with its reason, those in flight go on', async () => {
    const stop = new AbortController();
    const reason = new Error('SIGTERM');
    const { client, open } = limited({ concurrency: 1, stop: stop.signal });
    const flying = client.ask(batchCall([idOf(1)]));
    const waiting = client.ask(batchCall([idOf(2)]));
    await settled();
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(client.ask(batchCall([idOf(3)]))).rejects.toBe(reason);
    expect(open).toHaveLength(1);
    endOldest(open);
    expect(await flying).toMatchObject({ kind: 'records' });
    await settled();
    expect(open).toHaveLength(0);
  });

  it('closes once nothing is in flight, and leaves no pause behind', async () => {
    const { client, open, clock } = limited();
    client.ask(batchCall([idOf(1)])).catch(() => undefined);
    const flying = client.ask(batchCall([idOf(2)]));
    await settled();
    endOldest(open, tooFast(60_000));
    await settled();
    const closing = client.close();
    let closed = false;
    void closing.then(() => {
      closed = true;
    });
    await settled();
    expect(closed).toBe(false);
    endOldest(open);
    await closing;
    await flying;
    expect(clock.sleepers()).toBe(0);
  });
});
