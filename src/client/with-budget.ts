import { utcDay } from '../lib/clock.ts';
import { ExportError } from '../lib/export-error.ts';
import type { AssetAnswer, Asker, CallOutline } from './asset-client.ts';
import { AttemptError } from './attempt-error.ts';
import { type BookedCall, bookCall, type BookingRules } from './booked-call.ts';
import type { ClientListener } from './client-events.ts';
import { createDayGate } from './day-gate.ts';
import { type SpentReason, spentError } from './spent-error.ts';

export interface BudgetOptions extends BookingRules {
  /** Most credits of this client, whatever the day. */
  readonly creditsPerRun?: number | undefined;
  /** Pace, kept by the clock. */
  readonly creditsPerSecond?: number | undefined;
  /** What to do when a day's credits are spent: give up with `spent`, or go on at 00:00 UTC. */
  readonly whenSpent: 'stop' | 'wait';
  /** HTTP statuses that the service is known not to charge for; by default every attempt that was sent counts. */
  readonly freeStatuses?: readonly number[] | undefined;
  /** Asked once a call has waited for its turn: false has it fail as `held`, for the policies around to decide anew. */
  readonly mayLeave?: ((call: CallOutline) => boolean) | undefined;
  /** Awaited before each attempt is sent: the caller counts calls durably. */
  readonly onCall?: (() => Promise<void>) | undefined;
  /** Awaited when an attempt turned out to cost nothing, be it that it was never sent. */
  readonly onFree?: ((attempt: { readonly sent: boolean }) => Promise<void>) | undefined;
  readonly stop?: AbortSignal | undefined;
  readonly listener?: ClientListener | undefined;
}

/**
 * Books every attempt before it is sent; never more than the limits allow.
 * An error that ends the run (key refused, balance spent, a ledger that cannot be written) also ends this client: nothing is sent after it.
 * @throws {ExportError} `spent`
 */
export function withBudget<Call extends CallOutline>(inner: Asker<Call>, options: BudgetOptions): Asker<Call> {
  const { clock, creditsPerCall, creditsPerDay, creditsPerRun, stop, whenSpent } = options;
  if (creditsPerDay !== undefined && creditsPerDay < creditsPerCall) {
    throw new ExportError(
      'usage',
      `budget.creditsPerDay (${creditsPerDay}) is less than one call costs (${creditsPerCall}).`,
      {
        todo: 'Raise creditsPerDay, or set creditsPerCall to what the service charges.',
      },
    );
  }
  const gate = createDayGate(options);
  const pace = createPace(options);
  const underWay = new Set<Promise<unknown>>();
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
  function maySend(booked: BookedCall): boolean {
    return !isBarred() && booked.isForNow();
  }

  /** Books on the run and on the day: what is booked, or why nothing is; undefined when it has to be tried again. */
  async function book(): Promise<BookedCall | SpentReason | undefined> {
    // The run's credits are taken before anything is awaited, so that two calls cannot both take the last.
    if (creditsPerRun !== undefined && runCredits + creditsPerCall > creditsPerRun) {
      return { limit: 'creditsPerRun', what: runSpent(runCredits, creditsPerRun) };
    }
    runCredits += creditsPerCall;
    const booked = await bookCall(options).catch((error: unknown) => {
      runCredits -= creditsPerCall;
      throw error;
    });
    if (booked === undefined) {
      runCredits -= creditsPerCall;
      return { limit: 'creditsPerDay', what: `The day's budget (creditsPerDay ${creditsPerDay ?? 0}) is spent` };
    }
    // A stop that comes now is too late for this call: with the last credits of a budget all booked, the next call's
    // refusal stops the run, and what is booked is still to be sent.
    if (maySend(booked)) return booked;
    await giveBack(booked);
    return undefined;
  }

  async function giveBack(booked: BookedCall): Promise<void> {
    runCredits -= creditsPerCall;
    await booked.refund();
    returns += 1;
  }

  /** Gives back what an attempt was booked for that the caller has counted. */
  async function settleFree(booked: BookedCall, sent: boolean): Promise<void> {
    await giveBack(booked);
    await options.onFree?.({ sent });
  }

  function spent(reason: SpentReason): void {
    if (whenSpent === 'stop' || reason.limit === 'creditsPerRun') throw spentError(reason, clock);
    gate.shut(reason.what, 'ledger');
  }

  /** The service says so: nothing is sent until its day is over. A refusal of yesterday says nothing about today. */
  function balanceSpent(error: AttemptError, sentDay: string): void {
    if (utcDay(clock.now()) !== sentDay) return;
    const what = `The service says that the day's credits are spent (${error.message})`;
    if (whenSpent === 'wait') gate.shut(what, 'service');
    else ended ??= spentError({ limit: 'the service', what }, clock, error);
  }

  /** For a ledger that fails once an answer is there: the answer is paid for and has to be kept, so the next call fails. */
  function endWith(error: unknown): void {
    if (!(error instanceof ExportError)) throw error;
    ended ??= error;
  }

  /** Sends a booked call; undefined when the service says that its credits are spent. */
  async function send(call: Call, booked: BookedCall): Promise<AssetAnswer | undefined> {
    const sentDay = utcDay(clock.now());
    try {
      const answer = await inner.ask(call);
      const isFree = answer.kind === 'refused' && isFreeStatus(answer.status, options);
      await (isFree ? settleFree(booked, true) : booked.answered()).catch(endWith);
      return answer;
    } catch (error) {
      const isSpent = error instanceof AttemptError && error.failure === 'spent';
      // Before anything is awaited: nothing is sent after it.
      if (error instanceof ExportError) ended ??= error;
      if (isSpent) balanceSpent(error, sentDay);
      const isUnsent = error instanceof AttemptError && error.unsent;
      await (wasFree(error, options) ? settleFree(booked, !isUnsent) : booked.failed());
      if (isSpent) return undefined;
      throw error;
    }
  }

  /** Books and sends; tells why where there are no credits for it, undefined when it has to be tried again. */
  async function attempt(call: Call): Promise<AssetAnswer | SpentReason | undefined> {
    const booked = await book();
    if (booked === undefined || 'limit' in booked) return booked;
    try {
      await options.onCall?.();
    } catch (error) {
      await giveBack(booked);
      throw error;
    }
    if (maySend(booked)) return send(call, booked);
    await settleFree(booked, false);
    return undefined;
  }

  /** Makes one attempt, when there are credits for it; undefined when it has to be tried again, perhaps on a new day. */
  async function attemptWithin(call: Call): Promise<AssetAnswer | undefined> {
    const before = { returns, day: utcDay(clock.now()) };
    const work = attempt(call);
    underWay.add(work);
    const outcome = await work.finally(() => underWay.delete(work));
    if (outcome === undefined || 'kind' in outcome) return outcome;
    const isSame = (): boolean => returns === before.returns && utcDay(clock.now()) === before.day;
    // Not spent for good while an attempt is under way that may give its credits back: they would stay unused.
    while (isSame() && underWay.size > 0) await Promise.race(underWay).catch(() => undefined);
    if (!isSame()) return undefined;
    throwIfEnded();
    spent(outcome);
    return undefined;
  }

  return {
    ask: async (call) => {
      for (;;) {
        throwIfEnded();
        await gate.opened();
        await pace();
        // What others were told meanwhile holds for this call too.
        if (gate.isShut()) continue;
        throwIfEnded();
        if (options.mayLeave?.(call) === false) throw new AttemptError('held', 'not sent yet');
        const answer = await attemptWithin(call);
        if (answer !== undefined) return answer;
      }
    },
  };
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

/**
 * Spaces attempts evenly. A turn is taken before it is waited for, so that no two attempts get the same. No wait is longer
 * than the turns before it, however the clock is set.
 */
function createPace({ clock, creditsPerCall, creditsPerSecond, stop }: BudgetOptions): () => Promise<void> {
  let lookedMs = 0;
  /** How long the turns that were taken last, from `lookedMs` on. */
  let takenMs = 0;
  return async () => {
    if (creditsPerSecond === undefined) return;
    const nowMs = clock.now();
    // A clock that was set back counts as one that stood still.
    const waitMs = Math.max(0, takenMs - Math.max(0, nowMs - lookedMs));
    lookedMs = nowMs;
    takenMs = waitMs + (creditsPerCall / creditsPerSecond) * 1000;
    if (waitMs > 0) await clock.sleep(waitMs, stop);
  };
}
