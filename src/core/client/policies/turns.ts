import type { Clock } from '../../../lib/clock.ts';
import { ExportError } from '../../../lib/export-error.ts';
import type { CallOutline } from '../asset-client.ts';
import { AttemptError } from '../attempt-error.ts';
import type { DayGate } from './day-gate.ts';
import type { Ended } from './day-gate.ts';
import type { Brake } from './brake.ts';
import { createLocalPace, type SharedPace } from './shared-pace.ts';

export interface TurnsOptions {
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
export class Turns {
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
