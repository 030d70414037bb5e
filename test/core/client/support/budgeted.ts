import type { AssetClient, ClientEvent } from '../../../../src/core/client/asset-client.ts';
import { type CreditLedger, createMemoryLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';
import { Ended } from '../../../../src/core/client/policies/day-gate.ts';
import { type BudgetOptions, withBudget } from '../../../../src/core/client/policies/with-budget.ts';
import type { ExportError } from '../../../../src/lib/export-error.ts';
import { createFakeClock, type FakeClock } from '../../../support/fake-clock.ts';

export const today = '2026-03-14';
export const tomorrow = '2026-03-15';
export const nineOClock = Date.UTC(2026, 2, 14, 9, 0, 0);
export const beforeMidnight = Date.UTC(2026, 2, 14, 23, 59, 50);

export interface Budgeted {
  readonly client: AssetClient;
  readonly clock: FakeClock;
  readonly ledger: CreditLedger;
  readonly events: ClientEvent[];
}

/** What a test may say of a budget. */
type BudgetOfTest = Partial<Omit<BudgetOptions, 'ended'>> & { startMs?: number; stop?: AbortSignal };

/** A budget of 160 credits a call, whose day begins at nine. */
export function budgeted(inner: AssetClient, options: BudgetOfTest = {}): Budgeted {
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
    ended: new Ended(options.stop),
  });
  return { client, clock, ledger, events };
}

/** How each call ended: `answered`, or the exit name of its error. */
export async function outcomes(work: readonly Promise<unknown>[]): Promise<string[]> {
  const ended = await Promise.allSettled(work);
  return ended.map((each) => (each.status === 'fulfilled' ? 'answered' : (each.reason as ExportError).exit));
}

export function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}
