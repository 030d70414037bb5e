import { type Clock, dayMs, nextUtcMidnight, sleepUntil, utcDay } from '../../../lib/clock.ts';
import { ExportError } from '../../../lib/export-error.ts';
import type { AttemptError, ClientListener } from '../asset-client.ts';

export type CreditLimit = 'creditsPerRun' | 'creditsPerDay' | 'the service' | 'the period of the service';

export interface SpentReason {
  readonly limit: CreditLimit;
  /** What is spent, by which limit: a clause without a full stop. */
  readonly what: string;
}

/** No further call may be sent: what is spent, by which limit, and when there are credits again. */
function spentError({ limit, what }: SpentReason, clock: Clock, cause?: unknown): ExportError {
  const nowMs = clock.now();
  const again = runAgain(limit, nowMs);
  return new ExportError('spent', `${what}.`, {
    todo: again.todo,
    why: { kind: 'spent', limit, runAgainAt: again.at },
    again: again.at === 'now' ? 'now' : 'later',
    cause,
  });
}

interface RunAgain {
  /** ISO 8601, `now`, or null when only the provider knows. */
  readonly at: string | null;
  readonly todo: string;
}

function runAgain(limit: CreditLimit, nowMs: number): RunAgain {
  if (limit === 'creditsPerRun')
    return { at: 'now', todo: 'Run the same command again: each run may spend --credits-per-run.' };
  if (limit === 'the period of the service')
    return {
      at: null,
      todo: 'Check your plan on the provider’s page. Run the same command again when the period is over, or with a larger plan.',
    };
  return atMidnight(nowMs);
}

function atMidnight(nowMs: number): RunAgain {
  const midnightMs = nextUtcMidnight(nowMs);
  const at = new Date(midnightMs).toISOString().replace(':00.000Z', 'Z');
  const when = `${at.slice(0, 10)} 00:00 UTC (in ${spanText(midnightMs - nowMs)})`;
  return {
    at,
    todo: `Run the same command again after ${when}, or use --when-spent wait.`,
  };
}

/** A span in hours and minutes, rounded up, as `5 h 12 min`. */
function spanText(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes} min` : `${hours} h ${minutes % 60} min`;
}

/** @throws {ExportError} `usage` when no call fits into the budget of a run or a day */
export function requireCallInBudget({
  creditsPerCall,
  ...limits
}: {
  readonly creditsPerCall: number;
  readonly creditsPerRun?: number | undefined;
  readonly creditsPerDay?: number | undefined;
}): void {
  for (const name of ['creditsPerRun', 'creditsPerDay'] as const) {
    const credits = limits[name] ?? creditsPerCall;
    if (credits >= creditsPerCall) continue;
    const flag = name === 'creditsPerRun' ? '--credits-per-run' : '--credits-per-day';
    throw new ExportError('usage', `${flag} ${credits} is below the price of one call (${creditsPerCall} credits)`, {
      todo: `Raise ${flag}, or set --credits-per-call to the price that the service charges.`,
    });
  }
}

export interface DayGateOptions {
  readonly clock: Clock;
  /** What to do when a day's credits are spent: give up with `spent`, or go on at 00:00 UTC. */
  readonly whenSpent: 'stop' | 'wait';
  readonly ended: Ended;
  readonly listener?: ClientListener | undefined;
}

// The service's clock may be behind: a balance that is "spent" right after midnight is still yesterday's.
const lateClockMs = 10 * 60_000;
const lateClockWaitMs = 60_000;

/** May anything leave today? Holds all calls back, together, until there are a new day's credits. */
export class DayGate {
  readonly #options: DayGateOptions;
  #untilMs = 0;

  constructor(options: DayGateOptions) {
    this.#options = options;
  }

  /** Resolves when calls may go on. @throws the reason of a stop */
  async opened(): Promise<void> {
    const { clock, ended } = this.#options;
    while (this.isShut()) await sleepUntil(clock, this.#untilMs, ended.stop);
  }

  /** True also for what is booked: the ledger shuts the gate only while no call is under way, so the service said so. */
  isShut(): boolean {
    return this.#options.clock.now() < this.#untilMs;
  }

  /** The ledger has no credits for a call. @throws {ExportError} `spent` where the job does not wait */
  ledgerIsSpent(reason: SpentReason): void {
    const { whenSpent, clock } = this.#options;
    if (whenSpent === 'stop' || reason.limit === 'creditsPerRun') throw spentError(reason, clock);
    this.#shut(reason.what, nextUtcMidnight(clock.now()));
  }

  /** The service says that its credits are spent. A refusal of yesterday (`sentDay`) says nothing about today. */
  serviceIsSpent(error: AttemptError, sentDay: string): void {
    const { whenSpent, clock, ended } = this.#options;
    if (error.ofPeriod) {
      const what = `The service reports that the credits of its billing period are spent (${error.message})`;
      ended.end(spentError({ limit: 'the period of the service', what }, clock, error));
      return;
    }
    const nowMs = clock.now();
    if (utcDay(nowMs) !== sentDay) return;
    const what = `The service reports that the day's credits are spent (${error.message})`;
    const isEarly = this.#untilMs > 0 && nowMs - (nextUtcMidnight(nowMs) - dayMs) < lateClockMs;
    if (whenSpent === 'wait') this.#shut(what, isEarly ? nowMs + lateClockWaitMs : nextUtcMidnight(nowMs));
    else ended.end(spentError({ limit: 'the service', what }, clock, error));
  }

  #shut(reason: string, untilMs: number): void {
    if (this.isShut()) return;
    this.#untilMs = untilMs;
    this.#options.listener?.({ kind: 'waiting', untilMs, reason });
  }
}

/**
 * What ended a client: nothing leaves after it. Whatever ends one says so here, and it is asked at the last moment before a
 * call leaves, so it reaches every call that waits.
 */
export class Ended {
  /** Aborted: no call begins. A call that is booked by then still leaves. */
  readonly stop: AbortSignal | undefined;
  #failure: ExportError | undefined;

  constructor(stop?: AbortSignal) {
    this.stop = stop;
  }

  /** The first error is kept. */
  end(error: ExportError): void {
    this.#failure ??= error;
  }

  /** The error that ended the client. After its last call there is no next one to throw it. */
  failure(): ExportError | undefined {
    return this.#failure;
  }

  /** @throws the reason of `stop`, or the error that ended the client */
  throwIfEnded(): void {
    this.stop?.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure;
  }
}
