import type { Clock } from '../lib/clock.ts';
import type { RunListener } from '../pipeline/run-events.ts';

export interface ProgressOptions {
  readonly clock: Clock;
  readonly creditsPerCall: number;
  readonly idsPerCall: number;
  /** Credits that the tightest limit still leaves after so many calls of this run. */
  readonly creditsLeft: (callsSent: number) => number | undefined;
  readonly logLevel: string;
}

export interface Progress {
  readonly listener: RunListener;
  /** A message between events. */
  tell(message: string): void;
  /** Takes the block away, or ends the log. */
  end(): void;
}
