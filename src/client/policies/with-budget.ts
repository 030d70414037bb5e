import { type Clock, dayMs, nextUtcMidnight, utcDay } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { Asker, AssetAnswer, CallOutline } from '../asset-client.ts';
import { AttemptError } from '../attempt-error.ts';
import { bookCall, type BookedCall, type BookingRules } from './booked-call.ts';
import type { ClientListener } from '../client-events.ts';
import { createLocalPace, type SharedPace } from './shared-pace.ts';
import { spentError, type SpentReason } from './spent-error.ts';

export interface BudgetOptions extends BookingRules {
  /** Most credits of this client, whatever the day. */
  readonly creditsPerRun?: number | undefined;
  /** Rate limit of this process. Without effect where `pace` is given. */
  readonly creditsPerSecond?: number | undefined;
  /** The rate limit of a fleet. */
  readonly pace?: SharedPace | undefined;
  /** What to do when a day's credits are spent: give up with `spent`, or go on at 00:00 UTC. */
  readonly whenSpent: 'stop' | 'wait';
  /** HTTP statuses that the service is known not to charge for; by default every attempt that was sent counts. */
  readonly freeStatuses?: readonly number[] | undefined;
  /** Called once a call has waited for its turn. False makes it fail as `held`, so that the outer policies decide again. */
  readonly mayLeave?: ((call: CallOutline) => boolean) | undefined;
  /** Awaited before each attempt is sent: the caller counts calls durably. */
  readonly onCall?: (() => Promise<void>) | undefined;
  /** Awaited when an attempt turned out to cost nothing, be it that it was never sent. */
  readonly onFree?: ((attempt: { readonly sent: boolean }) => Promise<void>) | undefined;
  readonly stop?: AbortSignal | undefined;
  readonly listener?: ClientListener | undefined;
}

export interface PaidAsker<Call> extends Asker<Call> {
  /** The error that ended this client. With the last call there is no next one to throw it. */
  failure(): ExportError | undefined;
}

/**
 * Books every attempt before it is sent; never more than the limits allow.
 * An error that ends the run (key refused, balance spent, a ledger that cannot be written) also ends this client: nothing is sent after it.
 * @throws {ExportError} `spent`
 */
export function withBudget<Call extends CallOutline>(inner: Asker<Call>, options: BudgetOptions): PaidAsker<Call> {
  const { clock, creditsPerCall, creditsPerDay, creditsPerRun, stop, whenSpent } = options;
  requireDayForACall(options);
  const gate = createDayGate(options);
  const pace = options.pace ?? createLocalPace(clock, options.creditsPerSecond);
  /** Attempts that are booked, and may give their credits back. */
  const booked = new Set<Promise<unknown>>();
  let lastBooking: Promise<unknown> = Promise.resolve();
  let runCredits = 0;
  /** How often credits were given back. */
  let returns = 0;
  let ended: ExportError | undefined;

  function throwIfEnded(): void {
    stop?.throwIfAborted();
    if (ended !== undefined) throw ended;
  }

  /** Whether nothing may be sent any more today, not even what is booked. */
  function isBarred(): boolean {
    // The ledger shuts the gate only while no call is under way, so it is the service that said so.
    return ended !== undefined || gate.isShut();
  }

  /** Its days may have become others while what it costs was being written. */
  function maySend(bill: BookedCall): boolean {
    return !isBarred() && bill.isForNow();
  }

  /**
   * Books on the run and on the day: what is booked, or why nothing is; undefined when it has to be tried again. One
   * booking at a time: credits that another takes and returns at once would look spent.
   */
  function book(): Promise<BookedCall | SpentReason | undefined> {
    const booking = lastBooking.then(bookNow);
    lastBooking = booking.catch(() => undefined);
    return booking;
  }

  async function bookNow(): Promise<BookedCall | SpentReason | undefined> {
    throwIfEnded();
    if (creditsPerRun !== undefined && runCredits + creditsPerCall > creditsPerRun) {
      return { limit: 'creditsPerRun', what: runSpent(runCredits, creditsPerRun) };
    }
    runCredits += creditsPerCall;
    const bill = await bookCall(options).catch((error: unknown) => {
      runCredits -= creditsPerCall;
      throw error;
    });
    if (bill === undefined) {
      runCredits -= creditsPerCall;
      return { limit: 'creditsPerDay', what: `The day's budget (creditsPerDay ${creditsPerDay ?? 0}) is spent` };
    }
    // A stop that comes now is too late for this call: with the last credits of a budget all booked, the next call's
    // refusal stops the run, and what is booked is still to be sent.
    if (maySend(bill)) return bill;
    await giveBack(bill);
    return undefined;
  }

  async function giveBack(bill: BookedCall): Promise<void> {
    runCredits -= creditsPerCall;
    await bill.refund();
    returns += 1;
  }

  /** Gives back what an attempt was booked for that the caller has counted. */
  async function settleFree(bill: BookedCall, sent: boolean): Promise<void> {
    await giveBack(bill);
    await options.onFree?.({ sent });
  }

  function spent(reason: SpentReason): void {
    if (whenSpent === 'stop' || reason.limit === 'creditsPerRun') throw spentError(reason, clock);
    gate.shut(reason.what, 'ledger');
  }

  /** The service says so: nothing is sent until its day is over. A refusal of yesterday says nothing about today. */
  function balanceSpent(error: AttemptError, sentDay: string): void {
    if (error.ofPeriod) {
      const what = `The service reports that the credits of its billing period are spent (${error.message})`;
      ended ??= spentError({ limit: 'the period of the service', what }, clock, error);
      return;
    }
    if (utcDay(clock.now()) !== sentDay) return;
    const what = `The service reports that the day's credits are spent (${error.message})`;
    if (whenSpent === 'wait') gate.shut(what, 'service');
    else ended ??= spentError({ limit: 'the service', what }, clock, error);
  }

  /** For a ledger that fails once an answer is there: the answer is paid for and has to be kept, so the next call fails. */
  function endWith(error: unknown): void {
    if (!(error instanceof ExportError)) throw error;
    ended ??= error;
  }

  /** Sends a booked call; undefined when the service says that its credits are spent. */
  async function send(call: Call, bill: BookedCall): Promise<AssetAnswer | undefined> {
    const sentDay = utcDay(clock.now());
    try {
      const answer = await inner.ask(call);
      const isFree = answer.kind === 'refused' && isFreeStatus(answer.status, options);
      await (isFree ? settleFree(bill, true) : bill.answered()).catch(endWith);
      return answer;
    } catch (error) {
      const isSpent = error instanceof AttemptError && error.failure === 'spent';
      // Before anything is awaited: nothing is sent after it.
      if (error instanceof ExportError) ended ??= error;
      if (isSpent) balanceSpent(error, sentDay);
      const isUnsent = error instanceof AttemptError && error.unsent;
      await (wasFree(error, options) ? settleFree(bill, !isUnsent) : bill.failed());
      if (isSpent) return undefined;
      throw error;
    }
  }

  /** Counts a booked call and sends it; undefined when it has to be tried again. */
  async function sendCounted(call: Call, bill: BookedCall): Promise<AssetAnswer | undefined> {
    try {
      await options.onCall?.();
    } catch (error) {
      await giveBack(bill);
      throw error;
    }
    if (maySend(bill)) return send(call, bill);
    await settleFree(bill, false);
    return undefined;
  }

  /** Makes one attempt, when there are credits for it; undefined when it has to be tried again, perhaps on a new day. */
  async function attempt(call: Call): Promise<AssetAnswer | undefined> {
    const before = { returns, day: utcDay(clock.now()) };
    const bill = await book();
    if (bill === undefined) return undefined;
    if ('limit' in bill) {
      // Not spent for good while a booked attempt may give its credits back: they would stay unused.
      if (booked.size > 0) await Promise.race(booked).catch(() => undefined);
      else if (returns === before.returns && utcDay(clock.now()) === before.day) {
        throwIfEnded();
        spent(bill);
      }
      return undefined;
    }
    const work = sendCounted(call, bill);
    booked.add(work);
    return work.finally(() => booked.delete(work));
  }

  function unused(): void {
    pace.unused(creditsPerCall);
  }

  /** Waits for the turn of a call; false when the day ended meanwhile. */
  async function takeTurn(call: Call): Promise<boolean> {
    const turn = pace.turn(creditsPerCall);
    try {
      const waitMs = await untilStopped(turn, stop);
      if (waitMs > 0) await clock.sleep(waitMs, stop);
      // Answers that other calls received in the meantime apply to this call too.
      if (!gate.isShut()) {
        throwIfEnded();
        if (options.mayLeave?.(call) !== false) return true;
        throw new AttemptError('held', 'not sent yet');
      }
    } catch (error) {
      turn.then(unused, () => undefined);
      throw error;
    }
    unused();
    return false;
  }

  return {
    failure: () => ended,
    ask: async (call) => {
      for (;;) {
        throwIfEnded();
        await gate.opened();
        if (!(await takeTurn(call))) continue;
        const answer = await attempt(call);
        if (answer !== undefined) return answer;
      }
    },
  };
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

function runSpent(spent: number, limit: number): string {
  return `This run's budget is spent: ${spent} credits booked, creditsPerRun is ${limit}`;
}

/** True when the attempt surely cost nothing: it never left, or its status is said to be free. */
function wasFree(error: unknown, options: BudgetOptions): boolean {
  if (error instanceof AttemptError) return error.unsent || isFreeStatus(error.status, options);
  return error instanceof ExportError && isFreeStatus(error.facts['status'], options);
}

function isFreeStatus(status: unknown, { freeStatuses = [] }: BudgetOptions): boolean {
  return typeof status === 'number' && freeStatuses.includes(status);
}

/** @throws {ExportError} `usage` when no call fits into the budget of a day */
export function requireDayForACall({
  creditsPerCall,
  creditsPerDay,
}: Pick<BudgetOptions, 'creditsPerCall' | 'creditsPerDay'>): void {
  if (creditsPerDay === undefined || creditsPerDay >= creditsPerCall) return;
  throw new ExportError(
    'usage',
    `budget.creditsPerDay (${creditsPerDay}) is below the price of one call (${creditsPerCall}).`,
    { todo: 'Raise creditsPerDay, or set creditsPerCall to the price that the service charges.' },
  );
}

interface DayGateOptions {
  readonly clock: Clock;
  readonly stop?: AbortSignal | undefined;
  readonly listener?: ClientListener | undefined;
}

/** Holds all calls back, together, until the service gives a new day's credits. */
interface DayGate {
  /** Resolves when calls may go on. @throws the reason of `stop`. */
  opened(): Promise<void>;
  isShut(): boolean;
  /** Closes the gate until the next 00:00 UTC. `by` says whose clock decides: this machine's ledger or the service's. */
  shut(reason: string, by: 'ledger' | 'service'): void;
}

// The service's clock may be behind: a balance that is "spent" right after midnight is still yesterday's.
const lateClockMs = 10 * 60_000;
const lateClockWaitMs = 60_000;

function createDayGate({ clock, stop, listener }: DayGateOptions): DayGate {
  let untilMs = 0;
  return {
    opened: async () => {
      while (clock.now() < untilMs) await clock.sleep(untilMs - clock.now(), stop);
    },
    isShut: () => clock.now() < untilMs,
    shut: (reason, by) => {
      const nowMs = clock.now();
      if (nowMs < untilMs) return;
      const dayBeganMs = nextUtcMidnight(nowMs) - dayMs;
      const early = by === 'service' && untilMs > 0 && nowMs - dayBeganMs < lateClockMs;
      untilMs = early ? nowMs + lateClockWaitMs : nextUtcMidnight(nowMs);
      listener?.({ kind: 'waiting', untilMs, reason });
    },
  };
}
