import type { Clock } from '../../lib/clock.ts';
import type { PricedLimits } from '../../core/run/history/run-figures.ts';
import type { RunListener } from '../../core/work/run-events.ts';

export interface ProgressOptions {
  readonly clock: Clock;
  readonly idsPerCall: number;
  readonly rowsPerPart: number;
  readonly budget: PricedLimits & {
    readonly whenSpent: 'stop' | 'wait';
    /** Booked on this UTC day before the run. */
    readonly bookedBefore: number;
  };
  readonly logLevel: string;
}

/** What every line of a log says, so that a log store can tell runs and exports apart. */
export interface LoggedRun {
  /** A UUID of version 7. */
  readonly run: string;
  /** Name of the output folder. */
  readonly export: string;
  readonly version: string;
}

export interface Progress {
  readonly listener: RunListener;
  /** A message between events. */
  tell(message: string): void;
  /** Takes the block away, or ends the log. */
  end(): void;
  /** Logs how the run ended, as its last line. Absent on a terminal, which shows it as text. */
  readonly logEnd?: (facts: object, level: 'info' | 'error') => void;
}
