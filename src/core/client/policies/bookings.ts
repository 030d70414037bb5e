import { type Clock, nextUtcMidnight, utcDay } from '../../../lib/clock.ts';
import type { CallOutline } from '../asset-client.ts';
import type { Brake } from './brake.ts';
import type { SpentReason, DayGate, Ended } from './day-gate.ts';
import type { CreditLedger } from '../ledger/credit-ledger.ts';

export interface BookingsOptions extends BookingRules {
  /** Most credits of this client, whatever the day. */
  readonly creditsPerRun?: number | undefined;
  /** Told of calls that it counted and that cost nothing. */
  readonly brake?: Brake | undefined;
  readonly ended: Ended;
}

/** What may be booked, and what came back? Never books more than the limits of the run and of the day. */
export class Bookings {
  readonly #options: BookingsOptions;
  readonly #gate: DayGate;
  /** Attempts that are booked, and may give their credits back. */
  readonly #open = new Set<Promise<unknown>>();
  #last: Promise<unknown> = Promise.resolve();
  #runCredits = 0;
  /** How often credits were given back. */
  #returns = 0;

  constructor(options: BookingsOptions, gate: DayGate) {
    this.#options = options;
    this.#gate = gate;
  }

  /**
   * Books an attempt of a call and makes it; undefined when it has to be tried again, perhaps on a new day.
   * @throws {ExportError} `spent` when there are no credits for it
   */
  async attempt<T>(call: CallOutline, make: (booked: BookedCall) => Promise<T | undefined>): Promise<T | undefined> {
    const before = { returns: this.#returns, day: this.#today() };
    const booked = await this.#bookCounted(call);
    if (booked === undefined) return undefined;
    if ('limit' in booked) {
      // Not spent for good while a booked attempt may give its credits back: they would stay unused.
      if (this.#open.size > 0) await Promise.race(this.#open).catch(() => undefined);
      else if (this.#returns === before.returns && this.#today() === before.day) {
        this.#options.ended.throwIfEnded();
        this.#gate.ledgerIsSpent(booked);
      }
      return undefined;
    }
    const work = make(booked);
    this.#open.add(work);
    return work.finally(() => this.#open.delete(work));
  }

  /** Whether a booked call may still be sent. Its days may have become others while it was being booked or counted. */
  maySend(booked: BookedCall): boolean {
    return this.#options.ended.failure() === undefined && !this.#gate.isShut() && booked.isForNow();
  }

  /** What is given back does not count as sent. */
  async #bookCounted(call: CallOutline): Promise<BookedCall | SpentReason | undefined> {
    const { brake } = this.#options;
    let isBooked = false;
    try {
      const booked = await this.#book();
      if (booked === undefined || 'limit' in booked) return booked;
      isBooked = true;
      const refund = async (): Promise<void> => {
        brake?.returned(call);
        await booked.refund();
      };
      return { ...booked, refund };
    } finally {
      if (!isBooked) brake?.returned(call);
    }
  }

  /** One booking at a time: credits that another takes and returns at once would look spent. */
  #book(): Promise<BookedCall | SpentReason | undefined> {
    const booking = this.#last.then(() => this.#bookNow());
    this.#last = booking.catch(() => undefined);
    return booking;
  }

  /** What is booked on the run and on the day, or why nothing is; undefined when it has to be tried again. */
  async #bookNow(): Promise<BookedCall | SpentReason | undefined> {
    const { creditsPerCall, creditsPerDay, creditsPerRun, ended } = this.#options;
    ended.throwIfEnded();
    if (creditsPerRun !== undefined && this.#runCredits + creditsPerCall > creditsPerRun) {
      return { limit: 'creditsPerRun', what: runSpent(this.#runCredits, creditsPerRun) };
    }
    this.#runCredits += creditsPerCall;
    const bill = await bookCall(this.#options).catch((error: unknown) => {
      this.#runCredits -= creditsPerCall;
      throw error;
    });
    if (bill === undefined) {
      this.#runCredits -= creditsPerCall;
      return { limit: 'creditsPerDay', what: `The day's budget (--credits-per-day ${creditsPerDay ?? 0}) is spent` };
    }
    const booked = { ...bill, refund: () => this.#refund(bill) };
    // A stop that comes now is too late for this call: with the last credits of a budget all booked, the next call's
    // refusal stops the run, and what is booked is still to be sent.
    if (this.maySend(booked)) return booked;
    await booked.refund();
    return undefined;
  }

  async #refund(bill: BookedCall): Promise<void> {
    this.#runCredits -= this.#options.creditsPerCall;
    await bill.refund();
    this.#returns += 1;
  }

  #today(): string {
    return utcDay(this.#options.clock.now());
  }
}

function runSpent(spent: number, limit: number): string {
  return `This run's budget is spent: ${spent} credits booked, --credits-per-run is ${limit}`;
}

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
