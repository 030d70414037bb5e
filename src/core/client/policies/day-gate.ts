import { type Clock, dayMs, nextUtcMidnight, utcDay } from '../../../lib/clock.ts';
import type { AttemptError } from '../attempt-error.ts';
import type { ClientListener } from '../client-events.ts';
import type { Ended } from './ended.ts';
import { spentError, type SpentReason } from './spent-error.ts';

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
    while (this.isShut()) await clock.sleep(this.#untilMs - clock.now(), ended.stop);
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
