import { type Clock, nextUtcMidnight, utcDay } from '../../../lib/clock.ts';
import type { CreditLedger } from '../ledger/credit-ledger.ts';

export interface BookingRules {
  readonly ledger: CreditLedger;
  readonly clock: Clock;
  /** What one attempt costs. */
  readonly creditsPerCall: number;
  readonly creditsPerDay?: number | undefined;
  /** How long an exchange may last: one that could still be under way at 00:00 UTC is booked on both days. */
  readonly timeoutMs: number;
}

/** What is booked for one attempt. */
export interface BookedCall {
  /** Whether a call that leaves now may be charged on the days that are booked, and on no others. */
  isForNow(): boolean;
  /** Gives everything back: the call surely cost nothing. */
  refund(): Promise<void>;
  /** The call is answered: gives the second day back when it has not begun. */
  answered(): Promise<void>;
  /** The call failed, and may have been charged. */
  failed(): Promise<void>;
}

/**
 * Books one attempt, on disk, before it is sent; undefined when a day's credits do not allow it.
 * The second day is booked beforehand, not at midnight: then not even a crash in mid-call leaves the ledger short,
 * and no other process can take what this call may be charged.
 */
export async function bookCall(rules: BookingRules): Promise<BookedCall | undefined> {
  const { ledger, clock, creditsPerCall, creditsPerDay } = rules;
  const sentMs = clock.now();
  const days = daysOfCall(sentMs, rules);
  const booked: string[] = [];
  const refundDays = async (list: readonly string[]): Promise<void> => {
    for (const day of list) await ledger.refund({ day, credits: creditsPerCall });
  };
  const settleDays = async (list: readonly string[]): Promise<void> => {
    for (const day of list) await ledger.settle({ day, credits: creditsPerCall });
  };
  for (const day of days) {
    if (await ledger.reserve({ day, credits: creditsPerCall, limit: creditsPerDay })) booked.push(day);
    else {
      await refundDays(booked);
      return undefined;
    }
  }
  return {
    isForNow: () => daysOfCall(clock.now(), rules).join() === days.join(),
    refund: () => refundDays(days),
    answered: async () => {
      const isEarly = clock.now() < nextUtcMidnight(sentMs);
      if (isEarly) await refundDays(days.slice(1));
      await settleDays(isEarly ? days.slice(0, 1) : days);
    },
    failed: () => settleDays(days),
  };
}

/** The days on which a call that leaves at a moment may be charged. */
function daysOfCall(sentMs: number, { timeoutMs }: BookingRules): string[] {
  return [...new Set([utcDay(sentMs), utcDay(sentMs + timeoutMs)])];
}
