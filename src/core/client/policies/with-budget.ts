import { utcDay, type Clock } from '../../../lib/clock.ts';
import { ExportError } from '../../../lib/export-error.ts';
import type { Asker, AssetAnswer, CallOutline } from '../asset-client.ts';
import { AttemptError, statusOf } from '../attempt-error.ts';
import { type BookedCall, Bookings, type BookingsOptions } from './bookings.ts';
import { DayGate, type DayGateOptions, type Ended, requireCallInBudget } from './day-gate.ts';
import type { Brake } from './brake.ts';
import { createLocalPace, type SharedPace } from './shared-pace.ts';

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
