import { type Clock, dayMs, nextUtcMidnight } from '../lib/clock.ts';
import type { ClientListener } from './client-events.ts';

export interface DayGateOptions {
  readonly clock: Clock;
  readonly stop?: AbortSignal | undefined;
  readonly listener?: ClientListener | undefined;
}

/** Holds all calls back, together, until the service gives a new day's credits. */
export interface DayGate {
  /** Resolves when calls may go on. @throws the reason of `stop`. */
  opened(): Promise<void>;
  isShut(): boolean;
  /** Closes the gate until the next 00:00 UTC. `by` tells whose clock decides: this machine's ledger or the service. */
  shut(reason: string, by: 'ledger' | 'service'): void;
}

// The service's clock may be behind: a balance that is "spent" right after midnight is still yesterday's.
const lateClockMs = 10 * 60_000;
const lateClockWaitMs = 60_000;

export function createDayGate({ clock, stop, listener }: DayGateOptions): DayGate {
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
