import type { Clock } from '../../lib/clock.ts';

export interface SharedPauseOptions {
  readonly clock: Clock;
  /** A number from 0 up to 1, as Math.random. */
  readonly random: () => number;
  /** Called when a pause begins and when it ends. */
  readonly onPause: () => void;
  readonly onEnd: () => void;
}

/** One pause for all calls, after the service said that they come too fast. */
export interface SharedPause {
  /**
   * Begins a pause, or makes the one under way longer; `waitMs` is what the service requested.
   * Returns until when, in milliseconds since 1970 UTC, or undefined when nothing changed.
   */
  begin(waitMs: number | undefined): number | undefined;
  /** A call went through. */
  succeeded(): void;
  /** Pauses since a call last went through. */
  inRow(): number;
  isOn(): boolean;
  /** Ends the pause under way. */
  end(): void;
}

/** A pause is never shorter, or calls would storm; nor longer, as `Retry-After` may name a day. */
const floorMs = 1_000;
const capMs = 60_000;

export function createSharedPause({ clock, random, onPause, onEnd }: SharedPauseOptions): SharedPause {
  const ended = new AbortController();
  /** The pauses asked for that are not over: together they are the one pause. */
  let open = 0;
  let untilMs = 0;
  let inRow = 0;

  async function rest(ms: number): Promise<void> {
    open += 1;
    try {
      await clock.sleep(ms, ended.signal);
    } catch (error) {
      if (!ended.signal.aborted) throw error;
    }
    open -= 1;
    if (open === 0) onEnd();
  }

  return {
    begin: (waitMs) => {
      // Without a wish of the service: longer each time, with jitter, so that several processes part.
      const grownMs = floorMs + random() * Math.min(capMs, floorMs * 2 ** inRow);
      const restMs = Math.round(Math.min(capMs, Math.max(floorMs, waitMs ?? grownMs)));
      const askedUntilMs = clock.now() + restMs;
      // Calls that were in flight when the pause began say nothing new, unless they ask for longer.
      if (open > 0 && (waitMs === undefined || askedUntilMs <= untilMs)) return undefined;
      untilMs = askedUntilMs;
      if (open === 0) {
        inRow += 1;
        onPause();
      }
      void rest(restMs);
      return untilMs;
    },
    succeeded: () => {
      if (open === 0) inRow = 0;
    },
    inRow: () => inRow,
    isOn: () => open > 0,
    end: () => {
      ended.abort();
    },
  };
}
