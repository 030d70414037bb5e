import type { CreditLedger } from './credit-ledger.ts';

/** A ledger that ends with the process: for runs against a service inside the same process, where credits cost nothing. */
export function createMemoryLedger(): CreditLedger {
  const days = new Map<string, number>();
  const bookedOn = (day: string): number => days.get(day) ?? 0;
  return {
    reserve: ({ day, credits, limit }) => {
      const total = bookedOn(day) + credits;
      const fits = limit === undefined || total <= limit;
      if (fits) days.set(day, total);
      return Promise.resolve(fits);
    },
    refund: ({ day, credits }) => {
      days.set(day, Math.max(0, bookedOn(day) - credits));
      return Promise.resolve();
    },
    settle: () => Promise.resolve(),
    booked: (day) => Promise.resolve(bookedOn(day)),
    close: () => Promise.resolve(),
  };
}
