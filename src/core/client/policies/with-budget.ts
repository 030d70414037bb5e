import { type Clock, nextUtcMidnight, utcDay } from '../../../lib/clock.ts';
import { type CallOutline, type Asker, type AssetAnswer, AttemptError, statusOf } from '../asset-client.ts';
import type { Brake } from './brake.ts';
import { type SpentReason, DayGate, type Ended, type DayGateOptions, requireCallInBudget } from './day-gate.ts';
import type { CreditLedger } from '../ledger/credit-ledger.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { createLocalPace, type SharedPace } from './shared-pace.ts';

interface BookingsOptions extends BookingRules {
  /** Most credits of this client, whatever the day. */
  readonly creditsPerRun?: number | undefined;
  /** Told of calls that it counted and that cost nothing. */
  readonly brake?: Brake | undefined;
  readonly ended: Ended;
}

/** What may be booked, and what came back? Never books more than the limits of the run and of the day. */
class Bookings {
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

interface BookingRules {
  readonly ledger: CreditLedger;
  readonly clock: Clock;
  /** What one attempt costs. */
  readonly creditsPerCall: number;
  readonly creditsPerDay?: number | undefined;
  /** How long an exchange may last: one that could still be under way at 00:00 UTC is booked on both days. */
  readonly timeoutMs: number;
}

/** What is booked for one attempt. */
interface BookedCall {
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
async function bookCall(rules: BookingRules): Promise<BookedCall | undefined> {
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

export interface BudgetOptions extends BookingsOptions, DayGateOptions, TurnsOptions {
  /** HTTP statuses that the service is known not to charge for; by default every attempt that was sent counts. */
  readonly freeStatuses?: readonly number[] | undefined;
  /** Awaited before each attempt is sent: the caller counts calls durably. */
  readonly onCall?: (() => Promise<void>) | undefined;
  /** Awaited when an attempt turned out to cost nothing, be it that it was never sent. */
  readonly onFree?: ((attempt: { readonly sent: boolean }) => Promise<void>) | undefined;
}

/**
 * The life of an attempt: wait for the day, take a turn, book, count, send, settle. Every attempt is booked before it is sent,
 * never more than the limits allow. An error that ends the run (key refused, balance spent, a ledger that cannot be written)
 * also ends this client: nothing is sent after it.
 * @throws {ExportError} `spent`
 */
export function withBudget<Call extends CallOutline>(inner: Asker<Call>, options: BudgetOptions): Asker<Call> {
  const { clock, ended } = options;
  // What a run has left may be less than a call.
  requireCallInBudget({ ...options, creditsPerRun: undefined });
  const gate = new DayGate(options);
  const turns = new Turns(options, gate);
  const bookings = new Bookings(options, gate);

  /** Counts a booked call and sends it; undefined when it has to be tried again. */
  async function countAndSend(call: Call, booked: BookedCall): Promise<AssetAnswer | undefined> {
    try {
      await options.onCall?.();
    } catch (error) {
      await booked.refund();
      throw error;
    }
    if (bookings.maySend(booked)) return send(call, booked);
    await settleFree(booked, false, options);
    return undefined;
  }

  /** Sends a counted call; undefined when the service says that its credits are spent. */
  async function send(call: Call, booked: BookedCall): Promise<AssetAnswer | undefined> {
    const sentDay = utcDay(clock.now());
    try {
      const answer = await inner.ask(call);
      await settleAnswer(answer, booked, options);
      return answer;
    } catch (error) {
      const isSpent = error instanceof AttemptError && error.failure === 'spent';
      // Before anything is awaited: nothing is sent after it.
      if (error instanceof ExportError) ended.end(error);
      if (isSpent) gate.serviceIsSpent(error, sentDay);
      await settleFailure(error, booked, options);
      if (isSpent) return undefined;
      throw error;
    }
  }

  return {
    ask: async (call) => {
      for (;;) {
        ended.throwIfEnded();
        await gate.opened();
        if (!(await turns.take(call))) continue;
        const answer = await bookings.attempt(call, (booked) => countAndSend(call, booked));
        if (answer !== undefined) return answer;
      }
    },
  };
}

/** A ledger that fails now fails the next call: this answer is paid for and has to be kept. */
async function settleAnswer(answer: AssetAnswer, booked: BookedCall, options: BudgetOptions): Promise<void> {
  if (answer.kind === 'refused') options.brake?.failed(answer.message);
  const isFree = answer.kind === 'refused' && isFreeStatus(answer.status, options);
  await (isFree ? settleFree(booked, true, options) : booked.answered()).catch((error: unknown) => {
    if (!(error instanceof ExportError)) throw error;
    options.ended.end(error);
  });
}

/** Gives back what surely was not charged: the call never left, or its status is said to be free. */
async function settleFailure(error: unknown, booked: BookedCall, options: BudgetOptions): Promise<void> {
  const isUnsent = neverLeft(error);
  if (error instanceof AttemptError && error.failure !== 'held') options.brake?.failed(error.message);
  if (isUnsent || isFreeStatus(statusOf(error), options)) await settleFree(booked, !isUnsent, options);
  else await booked.failed();
}

/** Whether surely no byte of the request has left: what ends a run (a proxy's 407, an abort) says so too. */
function neverLeft(error: unknown): boolean {
  return (error instanceof AttemptError || error instanceof ExportError) && error.unsent;
}

/** Gives back what an attempt was booked for that the caller has counted. */
async function settleFree(booked: BookedCall, sent: boolean, { onFree }: BudgetOptions): Promise<void> {
  await booked.refund();
  await onFree?.({ sent });
}

function isFreeStatus(status: number | undefined, { freeStatuses = [] }: BudgetOptions): boolean {
  return status !== undefined && freeStatuses.includes(status);
}

interface TurnsOptions {
  readonly clock: Clock;
  /** What one attempt costs. */
  readonly creditsPerCall: number;
  /** Rate limit of this process. Without effect where `pace` is given. */
  readonly creditsPerSecond?: number | undefined;
  /** The rate limit of a fleet. */
  readonly pace?: SharedPace | undefined;
  /** Called once a call has waited for its turn. False makes it fail as `held`, so that the outer policies decide again. */
  readonly mayLeave?: ((call: CallOutline) => boolean) | undefined;
  /** Counts the calls of the run. Absent: their number has no limit. */
  readonly brake?: Brake | undefined;
  readonly ended: Ended;
}

/** When is it a call's turn? */
class Turns {
  readonly #options: TurnsOptions;
  readonly #gate: DayGate;
  readonly #pace: SharedPace;

  constructor(options: TurnsOptions, gate: DayGate) {
    this.#options = options;
    this.#gate = gate;
    this.#pace = options.pace ?? createLocalPace(options.clock, options.creditsPerSecond);
  }

  /**
   * Waits for the turn of a call; false when the day ended meanwhile.
   * @throws {AttemptError} `held`
   * @throws {ExportError} `overrun`, which also ends the client
   */
  async take(call: CallOutline): Promise<boolean> {
    const { clock, mayLeave, ended } = this.#options;
    const turn = this.#begin(call);
    try {
      const waitMs = await untilStopped(turn, ended.stop);
      if (waitMs > 0) await clock.sleep(waitMs, ended.stop);
      // Answers that other calls received in the meantime apply to this call too.
      if (!this.#gate.isShut()) {
        ended.throwIfEnded();
        if (mayLeave?.(call) !== false) return true;
        throw new AttemptError('held', 'not sent yet');
      }
    } catch (error) {
      turn.then(
        () => {
          this.#unused(call);
        },
        () => undefined,
      );
      throw error;
    }
    this.#unused(call);
    return false;
  }

  async #begin(call: CallOutline): Promise<number> {
    const { creditsPerCall, brake, ended } = this.#options;
    if (brake === undefined) return this.#pace.turn(creditsPerCall);
    try {
      return await brake.turn(call, (departure) => this.#pace.turn(creditsPerCall, departure));
    } catch (error) {
      if (error instanceof ExportError) ended.end(error);
      throw error;
    }
  }

  #unused(call: CallOutline): void {
    this.#pace.unused(this.#options.creditsPerCall);
    this.#options.brake?.returned(call);
  }
}

/** A shared pace may wait for its database; a run that is stopped does not. @throws the reason of `stop` */
async function untilStopped<T>(work: Promise<T>, stop: AbortSignal | undefined): Promise<T> {
  if (stop === undefined) return work;
  stop.throwIfAborted();
  let end: () => void = () => undefined;
  const stopped = new Promise<never>((_, reject) => {
    end = () => {
      reject(stop.reason as Error);
    };
  });
  stop.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    stop.removeEventListener('abort', end);
  }
}
