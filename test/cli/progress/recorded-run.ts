import { readFileSync } from 'node:fs';
import type { Counts } from '../../../src/places/export/export-facts.ts';
import { noNotes } from '../../../src/places/export/export-facts.ts';
import type { RunEvent } from '../../../src/core/work/run-events.ts';

export interface RecordedEvent {
  /** Milliseconds since the run began. */
  readonly t: number;
  readonly event: RunEvent;
}

/**
 * The events of runs that took place: 36,000 to 90,000 ids from the local service over loopback, on two busy cores.
 * - `steady`: 250 ids a call, 4 calls at once, answers after 0.9 to 1.4 s
 * - `bursts`: 1,000 ids a call, 8 calls at once, answers after 7 s, so that they come together
 * - `pauses`: as `steady`, and every 31st call gets HTTP 429 with `Retry-After: 6`
 * - `resume`: the second run of an export whose first one was stopped after 20 s
 * - `retries`: 500 ids a call, answers after 0.5 to 3 s, and 15 % of the calls get HTTP 503
 */
export const recordedRuns = ['steady', 'bursts', 'pauses', 'resume', 'retries'] as const;

export const idsPerCallOf = { steady: 250, bursts: 1000, pauses: 250, resume: 500, retries: 500 } as const;

/** Lines of a trace: time, kind, and the members of the event in a fixed order. */
export function recordedRun(name: (typeof recordedRuns)[number]): RecordedEvent[] {
  const text = readFileSync(new URL(`traces/${name}.jsonl`, import.meta.url), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [t, kind, ...members] = JSON.parse(line) as [number, RunEvent['kind'], ...unknown[]];
      return { t, event: eventOf(kind, members) };
    });
}

function eventOf(kind: RunEvent['kind'], members: readonly unknown[]): RunEvent {
  const [a, b, c, d] = members as number[];
  const number = (value: number | undefined): number => value ?? 0;
  switch (kind) {
    case 'opened':
      return { kind, inputBytes: number(a), parts: number(b), answers: number(c), counts: countsOf(d) };
    case 'read':
      return { kind, entries: number(a), inputBytes: number(b) };
    case 'sent':
    case 'replayed':
      return { kind, ids: number(a) };
    case 'answered':
      return { kind, ids: number(a), bytes: number(b), ms: number(c) };
    case 'failed':
      return { kind, why: 'other' };
    case 'retry':
      return { kind, reason: 'HTTP 503', why: 'http_5xx', waitMs: 1, attempt: 1 };
    case 'paused':
      return { kind, untilMs: number(a), reason: 'HTTP 429', concurrency: 4 };
    case 'settled':
      return { kind, counts: countsOf(a) };
    case 'committed': {
      const commit = { part: number(a), counts: countsOf(b), files: [], drift: [], notes: noNotes, inputBytes: 0 };
      return { kind, commit };
    }
    default:
      throw new Error(`a trace has no ${kind}`);
  }
}

function countsOf(value: unknown): Counts {
  const [read = 0, exported = 0, missing = 0, invalid = 0, duplicate = 0, failed = 0] = value as number[];
  return { read, exported, carried: 0, missing, invalid, duplicate, failed };
}
