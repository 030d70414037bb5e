import { afterEach, describe, expect, it, vi } from 'vitest';
import { Delivery } from '../../../src/wings/observe/deliver.ts';

const secret = 'https://hooks.example/T000/secret';

/** A delivery whose attempts end as the list says; sleeps pass at once. */
function deliveryTo(outcomes: readonly (number | 'refused' | 'hangs')[], abort?: AbortSignal) {
  const warnings: string[] = [];
  const bodies: string[] = [];
  const sleeps: number[] = [];
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (ms: number, signal?: AbortSignal) => {
      sleeps.push(ms);
      // The time limit of an attempt passes where it hangs, and nowhere else.
      const isLimit = signal !== undefined;
      if (signal?.aborted === true) return Promise.reject(new Error('aborted'));
      return isLimit && outcomes[bodies.length] !== 'hangs' ? new Promise<void>(() => undefined) : Promise.resolve();
    },
  };
  const fetchNow = (_: unknown, init?: RequestInit): Promise<Response> => {
    const outcome = outcomes[bodies.push(init?.body as string) - 1] ?? 200;
    if (outcome === 'refused') {
      const cause = Object.assign(new Error(`connect ECONNREFUSED ${secret}`), { code: 'ECONNREFUSED' });
      return Promise.reject(new TypeError('fetch failed', { cause }));
    }
    if (outcome !== 'hangs') return Promise.resolve(new Response(null, { status: outcome }));
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => {
        reject(new Error(`aborted ${secret}`));
      });
      if (init?.signal?.aborted === true) reject(new Error(`aborted ${secret}`));
    });
  };
  const delivery = new Delivery({
    what: 'a notification (json)',
    clock,
    abort,
    fetch: fetchNow,
    listener: (event) => {
      if (event.kind === 'warning') warnings.push(event.message);
    },
  });
  return { delivery, warnings, bodies, sleeps };
}

it('a message is sent once where it is taken', async () => {
  const { delivery, warnings, bodies } = deliveryTo([204]);
  await delivery.sendLast({ url: secret, body: 'a' });
  expect({ warnings, bodies }).toEqual({ warnings: [], bodies: ['a'] });
});

it('two more attempts follow the first', async () => {
  const { delivery, warnings, bodies, sleeps } = deliveryTo([500, 'refused', 200]);
  await delivery.sendLast({ url: secret, body: 'a' });
  expect({ warnings, bodies }).toEqual({ warnings: [], bodies: ['a', 'a', 'a'] });
  expect(sleeps).toEqual([5000, 500, 5000, 1000, 5000]);
});

it.each([
  [[500, 500, 500], 'HTTP 500'],
  [['refused', 'refused', 'refused'], 'connection failed (ECONNREFUSED)'],
  [['hangs', 'hangs', 'hangs'], 'no answer within 5 s'],
] as const)('%j is one warning without the address', async (outcomes, why) => {
  const { delivery, warnings, bodies } = deliveryTo([...outcomes, ...outcomes]);
  await delivery.sendLast({ url: secret, body: 'a' });
  await delivery.sendLast({ url: secret, body: 'b' });
  expect(bodies).toEqual(['a', 'a', 'a', 'b', 'b', 'b']);
  expect(warnings).toEqual([`a notification (json) could not be delivered: ${why}`]);
});

it('messages arrive in their order, and the end of the run cuts further attempts of earlier ones', async () => {
  const { delivery, bodies } = deliveryTo([500, 200]);
  void delivery.send({ url: secret, body: 'start' });
  await delivery.sendLast({ url: secret, body: 'end' });
  expect(bodies).toEqual(['start', 'end']);
});

describe('when the time of grace is over', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('a message gets one attempt', async () => {
    const { delivery, warnings, bodies } = deliveryTo([500, 500], AbortSignal.abort());
    await delivery.sendLast({ url: secret, body: 'a' });
    expect({ warnings, bodies }).toEqual({
      warnings: ['a notification (json) could not be delivered: HTTP 500'],
      bodies: ['a'],
    });
  });

  it('attempts under way, and those that follow, get half a second each', async () => {
    vi.useFakeTimers();
    const grace = new AbortController();
    const bodies: string[] = [];
    const warnings: string[] = [];
    const untilAborted = (signal: AbortSignal | null | undefined): Promise<never> =>
      new Promise((_, reject) => {
        const end = (): void => {
          reject(new Error('aborted'));
        };
        if (signal?.aborted === true) end();
        signal?.addEventListener('abort', end);
      });
    const delivery = new Delivery({
      what: 'a ping',
      clock: { now: () => 0, monotonic: () => 0, sleep: (_, signal) => untilAborted(signal) },
      abort: grace.signal,
      fetch: (_, init) => {
        bodies.push(init?.body as string);
        return untilAborted(init?.signal);
      },
      listener: (event) => {
        if (event.kind === 'warning') warnings.push(event.message);
      },
    });
    void delivery.send({ url: secret, body: 'start' });
    const ended = delivery.sendLast({ url: secret, body: 'end' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(bodies).toEqual(['start']);
    grace.abort();
    await vi.advanceTimersByTimeAsync(499);
    expect(bodies).toEqual(['start']);
    await vi.advanceTimersByTimeAsync(1);
    expect(bodies).toEqual(['start', 'end']);
    await vi.advanceTimersByTimeAsync(500);
    await ended;
    expect(warnings).toEqual(['a ping could not be delivered: no answer within 0.5 s']);
  });
});
