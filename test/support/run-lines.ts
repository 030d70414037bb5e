import type { RunSpan, RunStart } from '../../src/core/run/history/run-lines.ts';

/** The first line of a run, of a budget of 20 calls a day. */
export function runStart(more: Partial<RunStart> & Pick<RunStart, 'n' | 'startMs'>): RunStart {
  return {
    kind: 'run',
    run: `run-${more.n}`,
    version: '1',
    whenSpent: 'stop',
    concurrency: 8,
    idsPerCall: 1000,
    creditsPerCall: 160,
    creditsPerDay: 3200,
    fetched: 0,
    written: 0,
    ...more,
  };
}

/** A span of a second in which nothing happened but what is given. */
export function runSpan(more: Partial<RunSpan> & Pick<RunSpan, 't'>): RunSpan {
  return {
    kind: 'span',
    ms: 1000,
    ids: 0,
    sent: 0,
    answered: 0,
    bytes: 0,
    replayed: 0,
    read: 0,
    inputBytes: 0,
    callMs: {},
    ...more,
  };
}
