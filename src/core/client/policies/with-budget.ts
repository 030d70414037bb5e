import { utcDay } from '../../../lib/clock.ts';
import { ExportError } from '../../../lib/export-error.ts';
import type { Asker, AssetAnswer, CallOutline } from '../asset-client.ts';
import { AttemptError, statusOf } from '../attempt-error.ts';
import { type BookedCall, Bookings, type BookingsOptions } from './bookings.ts';
import { requireDayForACall, DayGate, type DayGateOptions } from './day-gate.ts';
import { Turns, type TurnsOptions } from './turns.ts';

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
  requireDayForACall(options);
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
