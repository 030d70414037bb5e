import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../../src/client/attempt-error.ts';
import type { ClientEvent } from '../../../src/client/client-events.ts';
import { withConcurrency } from '../../../src/client/policies/with-concurrency.ts';
import { batchCall, idOf, recordsOf } from '../support/calls.ts';
import { createFakeClock, settled } from '../../support/fake-clock.ts';

const reset = (): AttemptError => new AttemptError('transient', 'connection reset', { overload: true });

/** A service that resets calls beyond so many at once; whoever is reset asks again. */
async function ask(calls: number, most: number, concurrency = 8) {
  let open = 0;
  let resets = 0;
  const events: ClientEvent[] = [];
  const client = withConcurrency(
    {
      ask: async (call: ReturnType<typeof batchCall>) => {
        open += 1;
        const isTooMany = open > most;
        await settled();
        open -= 1;
        if (!isTooMany) return recordsOf(call);
        resets += 1;
        throw reset();
      },
    },
    { concurrency, maxPauses: 8, clock: createFakeClock(), random: () => 0.5, listener: (event) => events.push(event) },
  );
  const again = async (n: number): Promise<number> => {
    for (let failures = 0; ; failures += 1) {
      const answer = await client.ask(batchCall([idOf(n)])).catch((error: unknown) => error);
      if (!(answer instanceof AttemptError)) return failures;
      expect(answer.crowded || client.limit() === 1).toBe(true);
    }
  };
  const failures = await Promise.all(Array.from({ length: calls }, (_, n) => again(n)));
  return { failures, resets, events, limit: client.limit() };
}

describe('a service that resets connections beyond some number', () => {
  it('gets fewer calls at once, with few calls lost', async () => {
    const { failures, resets, events, limit } = await ask(200, 2);
    expect(limit).toBeLessThanOrEqual(3);
    // Of the first eight, of the next four; then rarely, as what is waited before three are tried doubles each time.
    expect(resets).toBeLessThanOrEqual(30);
    expect(Math.max(...failures)).toBeLessThanOrEqual(4);
    const first = events.find((event) => event.kind === 'concurrency');
    expect(first).toEqual({ kind: 'concurrency', calls: 4, reason: 'connection reset' });
  });

  it('gets all calls at once again when it takes them', async () => {
    const { limit, events } = await ask(400, 8, 9);
    expect(limit).toBeGreaterThanOrEqual(4);
    expect(events.filter((event) => event.kind === 'concurrency').length).toBeGreaterThan(0);
  });
});
