import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AssetClient, AttemptError } from '../../../../src/core/client/asset-client.ts';
import { type CreditLedger, createMemoryLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';
import { Ended } from '../../../../src/core/client/policies/day-gate.ts';
import { withBudget } from '../../../../src/core/client/policies/with-budget.ts';
import { utcDay } from '../../../../src/lib/clock.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { randomOf } from '../../../../packages/practice-service/src/generated/seeded-random.ts';
import { batchCall, idOf, recordsOf } from '../support/calls.ts';
import { judged } from '../support/judged.ts';
import { createFakeClock, type FakeClock } from '../../../support/fake-clock.ts';

const creditsPerCall = 160;
const timeoutMs = 60_000;
const midnightMs = Date.UTC(2026, 2, 15);

interface Schedule {
  readonly seed: number;
  /** Calls' worth of credits a day. */
  readonly callsPerDay: number;
  /** When it begins, from midnight. */
  readonly startMs: number;
  readonly whenSpent: 'stop' | 'wait';
  readonly processes: readonly {
    readonly calls: number;
    readonly concurrency: number;
    readonly killedAfterMs: number;
  }[];
}

/** A service that charges somewhere within each exchange, whatever becomes of the answer, and never forgets. */
class ChargingService {
  readonly charged = new Map<string, number>();
  readonly #clock: FakeClock;
  readonly #ledger: CreditLedger;
  readonly #random: ReturnType<typeof randomOf>;

  constructor(clock: FakeClock, ledger: CreditLedger, seed: number) {
    this.#clock = clock;
    this.#ledger = ledger;
    this.#random = randomOf(`money ${seed}`);
  }

  /** What one process sees of the service; once it is dead, nothing comes back to it. */
  seenBy(process: { readonly dead: boolean }): AssetClient {
    return {
      ask: async (call) => {
        const random = this.#random;
        const latencyMs = random.chance(10) ? timeoutMs : random.below(timeoutMs);
        const outcome = random.below(10);
        if (outcome !== 0) void this.#charge(random.below(latencyMs + 1));
        await this.#clock.sleep(latencyMs);
        if (process.dead) return new Promise(() => undefined);
        if (outcome === 0) throw new AttemptError('transport', 'refused', { unsent: true });
        if (outcome === 1) throw new AttemptError('transport', 'reset');
        if (outcome === 2) throw new AttemptError('pace', '429', { status: 429, waitMs: random.below(90_000) });
        if (outcome === 3) throw new AttemptError('transport', '503', { status: 503 });
        return recordsOf(call);
      },
    };
  }

  async #charge(afterMs: number): Promise<void> {
    await this.#clock.sleep(afterMs);
    const day = utcDay(this.#clock.now());
    const total = (this.charged.get(day) ?? 0) + creditsPerCall;
    this.charged.set(day, total);
    if ((await this.#ledger.booked(day)) < total) throw new Error(`More is charged on ${day} than is booked.`);
  }
}

/** A ledger that a dead process never hears from again. */
function ledgerOf(ledger: CreditLedger, process: { readonly dead: boolean }): CreditLedger {
  const orNever = async <T>(work: () => Promise<T>): Promise<T> => {
    if (process.dead) return new Promise<T>(() => undefined);
    return work();
  };
  return {
    reserve: (booking) => orNever(() => ledger.reserve(booking)),
    refund: (booking) => orNever(() => ledger.refund(booking)),
    settle: (booking) => orNever(() => ledger.settle(booking)),
    booked: (day) => ledger.booked(day),
    close: () => Promise.resolve(),
  };
}

async function run(schedule: Schedule): Promise<{ charged: Map<string, number>; ledger: CreditLedger }> {
  const clock = createFakeClock(midnightMs + schedule.startMs);
  const ledger = createMemoryLedger();
  const service = new ChargingService(clock, ledger, schedule.seed);
  const random = (): number => 0.3;
  const lives = schedule.processes.map(async ({ calls, concurrency, killedAfterMs }) => {
    const process = { dead: false };
    const budget = withBudget(service.seenBy(process), {
      ledger: ledgerOf(ledger, process),
      clock,
      creditsPerCall,
      creditsPerDay: schedule.callsPerDay * creditsPerCall + 50,
      whenSpent: schedule.whenSpent,
      timeoutMs,
      ended: new Ended(),
    });
    const client = judged(budget, { concurrency, retries: 8, clock, random });
    const asked = Array.from({ length: calls }, (_, n) => client.ask(batchCall([idOf(n)])));
    const work = Promise.allSettled(asked).then((ends) => {
      for (const end of ends) {
        if (end.status === 'rejected' && !(end.reason instanceof ExportError)) throw end.reason;
      }
    });
    const killed = clock.sleep(killedAfterMs).then(() => {
      process.dead = true;
    });
    await Promise.race([work, killed]);
  });
  await clock.runUntil(Promise.all(lives));
  await clock.advance(2 * timeoutMs);
  return { charged: service.charged, ledger };
}

describe('the credits of a day', () => {
  // Promise, Nothing overspent: The ledger stays between charges and budget, whatever fails, dies or passes midnight
  it('are never less booked than charged nor more than the budget, whatever fails, dies, or passes midnight', async () => {
    const process = fc.record({
      calls: fc.integer({ min: 1, max: 12 }),
      concurrency: fc.integer({ min: 1, max: 6 }),
      killedAfterMs: fc.oneof(fc.integer({ min: 1, max: 300_000 }), fc.constant(200_000_000)),
    });
    const schedule: fc.Arbitrary<Schedule> = fc.record({
      seed: fc.nat(),
      callsPerDay: fc.integer({ min: 1, max: 25 }),
      startMs: fc.oneof(fc.integer({ min: -150_000, max: 10_000 }), fc.constant(-40_000_000)),
      whenSpent: fc.constantFrom('stop', 'wait'),
      processes: fc.array(process, { minLength: 1, maxLength: 3 }),
    });
    let busiest = 0;
    await fc.assert(
      fc.asyncProperty(schedule, async (each) => {
        const { charged, ledger } = await run(each);
        for (const [day, credits] of charged) {
          const booked = await ledger.booked(day);
          expect(credits).toBeLessThanOrEqual(booked);
          expect(booked).toBeLessThanOrEqual(each.callsPerDay * creditsPerCall + 50);
          busiest = Math.max(busiest, credits);
        }
      }),
      { seed: 5, numRuns: 150 },
    );
    expect(busiest).toBeGreaterThan(10 * creditsPerCall);
  });
});
