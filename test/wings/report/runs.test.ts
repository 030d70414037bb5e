import { expect, it } from 'vitest';
import { runsData } from '../../../src/wings/report/runs.ts';
import { timeAxis } from '../../../src/wings/report/page/run-section.ts';
import type { RunLine, RunSpan, RunStart } from '../../../src/core/run/history/run-lines.ts';
import { runSpan, runStart } from '../../support/run-lines.ts';

const startMs = Date.UTC(2026, 10, 23, 23, 59, 50);
const start = (n: number, atMs: number): RunStart => runStart({ n, startMs: atMs });
const span = (t: number, more: Partial<RunSpan>): RunSpan => runSpan({ t, ...more });
const lines: RunLine[] = [
  start(1, startMs),
  span(0, { sent: 2 }),
  span(4000, { ids: 2000, answered: 2, callMs: { '2.5': 1, '5': 1 }, tookMs: 8000, longestMs: 4800, read: 2500 }),
  { kind: 'retry', t: 4200, reason: 'HTTP 503', attempt: 1 },
  { kind: 'paused', t: 4500, untilMs: startMs + 6500, heldMs: 2000, reason: 'HTTP 429' },
  { kind: 'paused', t: 5500, untilMs: startMs + 7500, heldMs: 2000, reason: 'HTTP 429' },
  { kind: 'committed', t: 8000, part: 0, read: 1500, exported: 1400 },
  // Killed: there is no end.
  start(2, startMs + 20_000),
  span(0, { sent: 1, replayed: 500 }),
  span(1000, { ids: 500, answered: 1, callMs: { '1': 1 }, tookMs: 900, longestMs: 900, read: 3000 }),
  { kind: 'committed', t: 2500, part: 1, read: 1500, exported: 1490 },
  { kind: 'end', t: 3000, state: 'complete', exit: 0 },
];

it('sums, pauses, parts, call times and credit days come from the record', () => {
  const data = runsData(lines, false);
  expect(data).toMatchObject({
    workedMs: 11_000,
    retries: 1,
    pausedMs: 3000,
    paused: 2,
    waitedMs: 0,
    read: 3000,
    runs: [
      {
        n: 1,
        calls: 2,
        credits: 320,
        ids: 2000,
        retries: 1,
        parts: 1,
        ended: 'killed',
        exit: null,
        endedMs: startMs + 8000,
      },
      { n: 2, calls: 1, credits: 160, ids: 500, fromJournal: 500, parts: 1, ended: 'complete', exit: 0 },
    ],
    parts: [
      { part: 0, fromMs: startMs, toMs: startMs + 8000, rows: 1400 },
      { part: 1, fromMs: startMs + 20_000, toMs: startMs + 22_500, rows: 1490 },
    ],
    callTimes: [
      { upToSeconds: 1, calls: 1 },
      { upToSeconds: 2.5, calls: 1 },
      { upToSeconds: 5, calls: 1 },
    ],
    p50: 2.5,
    p95: 5,
    longestMs: 4800,
    creditDays: [
      { name: '2026-11-23', count: 320 },
      { name: '2026-11-24', count: 160 },
    ],
    retryReasons: [{ name: 'HTTP 503', count: 1 }],
  });
  expect(data?.idsPerSecond).toBeCloseTo(2500 / 11);
});

it('the ids of a call are spread over the time that it took', () => {
  const { stepMs, runs } = runsData(lines, false)?.speed ?? { stepMs: 0, runs: [] };
  expect(stepMs).toBe(100);
  // Answered between 4 and 5 s, by calls of 4 s each.
  const [first = []] = runs;
  expect(first[0]).toBe(400);
  expect(first[49]).toBe(400);
  expect(first[50]).toBe(0);
  const ids = runs.map((rates) => rates.reduce((sum, rate) => sum + (rate * stepMs) / 1000, 0));
  expect(ids).toEqual([2000, expect.closeTo(500, -1)]);
});

it('a run without an end goes on where a process holds the export, and none is no data', () => {
  expect(runsData(lines.slice(0, 7), true)?.runs[0]?.ended).toBe('goes on');
  expect(runsData(lines.slice(0, 7), false)?.runs[0]?.ended).toBe('killed');
  expect(runsData([], true)).toBeUndefined();
});

it('a gap of days between runs takes little of the width', () => {
  const day = 86_400_000;
  const axis = timeAxis([
    { beganMs: 0, endedMs: 60_000 },
    { beganMs: 3 * day, endedMs: 3 * day + 60_000 },
  ]);
  expect(axis.x(0)).toBe(0);
  expect(axis.x(60_000)).toBeCloseTo(44.64, 1);
  expect(axis.x(3 * day)).toBeCloseTo(55.36, 1);
  expect(axis.x(3 * day + 60_000)).toBe(100);
  expect(axis.gaps).toEqual([{ fromMs: 60_000, toMs: 3 * day }]);
  for (const [index, { x }] of axis.ticks.entries()) {
    expect(x - (axis.ticks[index - 1]?.x ?? -8)).toBeGreaterThanOrEqual(8);
  }
});
