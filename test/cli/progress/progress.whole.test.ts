import { describe, expect, it } from 'vitest';
import { ProgressState } from '../../../src/cli/progress/progress-state.ts';
import { progressBlock, type ProgressFacts, progressTitle } from '../../../src/cli/progress/progress-text.ts';
import type { ProgressOptions } from '../../../src/cli/progress/progress.ts';
import { dayMs } from '../../../src/lib/clock.ts';
import { noCounts, noNotes } from '../../../src/places/export/export-facts.ts';
import type { RunEvent } from '../../../src/core/work/run-events.ts';
import { idsPerCallOf, recordedRun, recordedRuns } from './recorded-run.ts';

/** Noon of a UTC day. */
const noonMs = Date.UTC(2026, 10, 23, 12);

function clockAt(startMs: number) {
  const clock = { ms: startMs, now: () => clock.ms, monotonic: () => clock.ms, sleep: () => Promise.resolve() };
  return clock;
}

function optionsOf(clock: ProgressOptions['clock'], budget: Partial<ProgressOptions['budget']> = {}): ProgressOptions {
  return {
    clock,
    idsPerCall: 100,
    rowsPerPart: 500,
    logLevel: 'info',
    budget: { creditsPerCall: 160, whenSpent: 'stop', bookedBefore: 0, ...budget },
  };
}

const opened: RunEvent = { kind: 'opened', inputBytes: 10_000, parts: 0, answers: 0, counts: noCounts };
const read: RunEvent = { kind: 'read', entries: 1000, inputBytes: 5000 };
const sent: RunEvent = { kind: 'sent', ids: 100 };
const answered: RunEvent = { kind: 'answered', ids: 100, bytes: 200_000, ms: 1 };
const settled: RunEvent = { kind: 'settled', counts: { ...noCounts, read: 100, exported: 98, carried: 0, missing: 2 } };
const call = [sent, answered, settled];

/** The facts after these events, `afterMs` after the start. */
function factsAfter(events: readonly RunEvent[], afterMs = 0, budget: Partial<ProgressOptions['budget']> = {}) {
  const clock = clockAt(noonMs);
  const state = new ProgressState(optionsOf(clock, budget));
  for (const event of events) state.add(event);
  clock.ms += afterMs;
  return state.look();
}

describe('what is known of a run', () => {
  it('counts calls, answers, retries, bytes and parts', () => {
    const commit = { part: 0, counts: { ...noCounts, read: 120 }, files: [], drift: [], notes: noNotes, inputBytes: 1 };
    const failed: RunEvent = { kind: 'failed', why: 'http_5xx' };
    const retry: RunEvent = { kind: 'retry', reason: 'HTTP 503', why: 'http_5xx', waitMs: 5, attempt: 1 };
    const facts = factsAfter([
      opened,
      sent,
      failed,
      retry,
      sent,
      sent,
      sent,
      failed,
      answered,
      { kind: 'committed', commit },
    ]);
    expect(facts).toMatchObject({ calls: 4, callsInFlight: 1, retries: 1, parts: 1, bytes: 200_000, credits: 640 });
  });

  it('knows the number of entries when the inputs are read, and estimates it before', () => {
    expect(factsAfter([opened]).total).toBeUndefined();
    expect(factsAfter([opened, { ...read, entries: 30, inputBytes: 2500 }])).toMatchObject({
      total: 120,
      totalExact: false,
    });
    expect(factsAfter([opened, { ...read, entries: 90, inputBytes: 10_000 }])).toMatchObject({
      total: 90,
      totalExact: true,
    });
  });

  it('counts every entry whose fate is known, also those of earlier runs', () => {
    const counts = { ...noCounts, read: 200, exported: 150, invalid: 50 };
    const facts = factsAfter([{ ...opened, parts: 1, counts }, read, ...call]);
    expect(facts).toMatchObject({
      done: 300,
      fates: { exported: 248, carried: 0, missing: 2, invalid: 50, duplicate: 0 },
    });
  });

  it('is on hold until its time or the next call', () => {
    const paused: RunEvent = { kind: 'paused', reason: 'HTTP 429', untilMs: noonMs + 5000, concurrency: 4 };
    expect(factsAfter([opened, paused]).pause).toMatchObject({ reason: 'HTTP 429', untilMs: noonMs + 5000 });
    expect(factsAfter([opened, paused], 5000).pause).toBeUndefined();
    expect(factsAfter([opened, paused, sent]).pause).toBeUndefined();
  });

  it('knows what the run believes of the service until it works again', () => {
    const slowed: RunEvent = { kind: 'service', state: 'slowed', message: 'the service takes about 2 calls at once' };
    const working: RunEvent = { kind: 'service', state: 'working', message: '' };
    const block = (...events: RunEvent[]): string => progressBlock(factsAfter([opened, ...events]), 80);
    const ofCalls = block(slowed, sent).split('\n');
    expect(ofCalls.at(-1)).toBe('the service takes about 2 calls at once');
    const paused: RunEvent = { kind: 'paused', reason: 'HTTP 429', untilMs: noonMs + 5000, concurrency: 4 };
    expect(block(slowed, paused)).toMatch(/\nall calls paused 5 s: HTTP 429\nthe service takes about 2 calls at once$/);
    expect(block(slowed, working)).toBe(block());
  });

  it('counts the credits of a new day afresh', () => {
    const budget = { creditsPerDay: 1600, bookedBefore: 480 };
    expect(factsAfter([opened, sent], 0, budget).creditsLeft).toBe(960);
    expect(factsAfter([opened, sent], dayMs, budget).creditsLeft).toBe(1600);
    expect(factsAfter([opened, sent], dayMs, { ...budget, creditsPerRun: 320 }).creditsLeft).toBe(160);
  });
});

describe('the time left', () => {
  const fiveCalls = [opened, { ...read, inputBytes: 10_000 }, ...Array.from({ length: 5 }, () => call).flat()];

  it('is told after 5 s and two answers', () => {
    expect(factsAfter(fiveCalls, 4999).left).toBeUndefined();
    expect(factsAfter(fiveCalls, 5000).left).toEqual({ ends: 'ids', ms: 5000, moreDays: 0 });
    expect(factsAfter([opened, read, ...call], 60_000).left).toBeUndefined();
  });

  it('ends with the budget where that stops the run first', () => {
    expect(factsAfter(fiveCalls, 5000, { creditsPerRun: 1200 }).left).toEqual({
      ends: 'budget',
      ms: 2000,
      moreDays: 0,
    });
  });

  it('includes the nights that the run waits for credits, and says how many days follow', () => {
    const budget = { creditsPerDay: 160, bookedBefore: 0, whenSpent: 'wait' as const };
    const facts = factsAfter(fiveCalls, 5000, budget);
    // One call on each of the next five days.
    expect(facts.left).toEqual({ ends: 'ids', ms: dayMs / 2 - 5000 + 4 * dayMs + 1000, moreDays: 4 });
    const clock = clockAt(noonMs);
    const state = new ProgressState(optionsOf(clock, budget));
    for (const event of fiveCalls) state.add(event);
    clock.ms += 5000;
    state.look();
    state.add({ kind: 'waiting', reason: 'spent', untilMs: noonMs + dayMs / 2 });
    clock.ms += 5000;
    const block = progressBlock(state.look(), 80);
    expect(block).toContain('\nwaits until 00:00 UTC (11 h 59 min), then 4 more days');
    expect(block).toMatch(/ends 2026-11-2\d \d\d:\d\d/);
  });

  it.each(recordedRuns)(
    'of a recorded run (%s) is right within a quarter in its second half, and never jumps',
    (name) => {
      for (const everyMs of [200, 2000]) {
        const looks = looksAt(name, everyMs);
        const endT = looks.at(-1)?.t ?? 0;
        const firstKnown = looks.findIndex(({ facts }) => facts.left !== undefined);
        expect(looks[firstKnown]?.t).toBeLessThan(endT / 4);
        for (const { t, facts } of looks.slice(firstKnown)) {
          const eta = facts.left?.ms;
          expect(eta, `known again at ${t}`).toBeDefined();
          // Nobody foresees the pauses that come before the end.
          const left = endT - t - heldAfter(name, t);
          if (t > endT / 2) expect(Math.abs((eta ?? 0) - left), `at ${t}`).toBeLessThan(Math.max(6000, 0.25 * left));
        }
        for (const [index, { facts }] of looks.slice(firstKnown + 1).entries()) {
          const before = Math.max(2000, (looks[firstKnown + index]?.facts.left?.ms ?? 0) - everyMs);
          const ratio = Math.max(2000, facts.left?.ms ?? 0) / before;
          expect(Math.max(ratio, 1 / ratio)).toBeLessThan(2);
        }
      }
    },
  );

  it('holds its speed while calls are paused', () => {
    const looks = looksAt('pauses', 200);
    const paused = looks.filter(({ facts }) => facts.pause !== undefined);
    expect(paused.length).toBeGreaterThan(50);
    for (const { facts } of paused) expect(facts.idsPerSecond).toBeGreaterThan(300);
  });
});

/** Milliseconds of the pauses that begin later in a recorded run. */
function heldAfter(name: (typeof recordedRuns)[number], t: number): number {
  let sum = 0;
  let countedT = t;
  for (const each of recordedRun(name)) {
    if (each.event.kind !== 'paused' || each.t <= t) continue;
    sum += Math.max(0, each.event.untilMs - Math.max(countedT, each.t));
    countedT = Math.max(countedT, each.event.untilMs);
  }
  return sum;
}

/** What the block would show of a recorded run, look for look. */
function looksAt(name: (typeof recordedRuns)[number], everyMs: number): { t: number; facts: ProgressFacts }[] {
  const events = recordedRun(name);
  const clock = clockAt(0);
  const state = new ProgressState({ ...optionsOf(clock), idsPerCall: idsPerCallOf[name] });
  const looks: { t: number; facts: ProgressFacts }[] = [];
  const endT = events.at(-1)?.t ?? 0;
  let next = 0;
  for (let t = 0; t <= endT; t += everyMs) {
    for (let event = events[next]; event !== undefined && event.t <= t; event = events[next]) {
      clock.ms = event.t;
      state.add(event.event);
      next += 1;
    }
    clock.ms = t;
    looks.push({ t, facts: state.look() });
  }
  return looks;
}

const facts: ProgressFacts = {
  nowMs: noonMs,
  elapsedMs: 42_000,
  done: 54_210,
  total: 103_283,
  totalExact: true,
  fates: { exported: 51_460, carried: 0, missing: 1020, invalid: 640, duplicate: 1090, failed: 0 },
  parts: 5,
  partsTotal: 11,
  idsPerSecond: 1830,
  left: { ends: 'ids', ms: 38_000, moreDays: 0 },
  calls: 63,
  callsInFlight: 8,
  retries: 3,
  bytes: 96_000_000,
  credits: 10_080,
  creditsLeft: 2_989_920,
  pause: { kind: 'paused', reason: 'HTTP 429', untilMs: noonMs + 3000, moreDays: 0 },
  service: undefined,
};

/** In the time of this machine. */
function timeOf(ms: number): string {
  const date = new Date(ms);
  return `${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`;
}

describe('the block on a terminal', () => {
  it('is a bar and four lines at 80 columns', () => {
    expect(progressBlock(facts, 80)).toBe(
      [
        `${'█'.repeat(31)}${'░'.repeat(28)}  52 %  part 6 of 11`,
        `54,210 of 103,283 ids · 1,830 ids/s · 42 s of ~1 min 20 s · ends ${timeOf(noonMs + 38_000)}`,
        '51,460 exported · 1,020 missing · 640 invalid · 1,090 duplicate',
        '63 calls, 8 at once · 10,080 credits, 2,989,920 left · 96.0 MB · 3 retries',
        'all calls paused 3 s: HTTP 429',
      ].join('\n'),
    );
  });

  it.each([
    ['When does it end?', `ends ${timeOf(noonMs + 38_000)}`],
    ['How many are missing so far?', '1,020 missing'],
    ['What is left of the budget?', '2,989,920 left'],
    ['Why does nothing move?', 'all calls paused 3 s: HTTP 429'],
  ])('answers: %s', (_, answer) => {
    expect(progressBlock(facts, 80)).toContain(answer);
  });

  it('folds at 40 columns, no fact broken, and keeps the first two lines below', () => {
    const text = progressBlock(facts, 40).split('\n').slice(1).join(' ');
    for (const fact of ['1,830 ids/s', '42 s of ~1 min 20 s', '1,090 duplicate', '10,080 credits, 2,989,920 left'])
      expect(text).toContain(fact);
    expect(progressBlock(facts, 39).split('\n')).toHaveLength(2);
    expect(progressBlock(facts, 120).split('\n')[0]).toHaveLength(99);
  });

  it('is never wider than 20 to 200 columns, whatever it shows', () => {
    const long: ProgressFacts = {
      ...facts,
      done: 54_210_123,
      total: 1_203_283_456,
      totalExact: false,
      elapsedMs: 5 * dayMs,
      retries: 123_456,
      parts: 12_345,
      partsTotal: 23_456,
      calls: 1_203_283,
      creditsLeft: 123_456_789_012,
      bytes: 9e12,
      left: { ends: 'ids', ms: 40 * dayMs, moreDays: 0 },
      pause: { kind: 'paused', reason: 'x'.repeat(300), untilMs: noonMs + 3000, moreDays: 0 },
      service: `no answer since 09:00:00 UTC: ${'x'.repeat(300)}`,
    };
    for (let columns = 20; columns <= 200; columns += 1) {
      for (const shown of [facts, long, factsAfter([opened])]) {
        for (const line of progressBlock(shown, columns).split('\n')) expect(line.length).toBeLessThan(columns);
      }
    }
  });

  it('rounds the time: to 5 s above a minute, to a minute above an hour; and dates what is far away', () => {
    const after = (elapsedMs: number, ms: number): string =>
      progressBlock({ ...facts, elapsedMs, left: { ends: 'ids', ms, moreDays: 0 } }, 100).split('\n')[1] ?? '';
    expect(after(1000, 41_400)).toContain('1 s of ~42 s');
    expect(after(61_000, 62_400)).toContain('1 min 1 s of ~2 min 5 s');
    expect(after(61_000, 5_000_000)).toContain('1 min 1 s of ~1 h 24 min');
    expect(after(61_000, 43_100_000)).toMatch(/ends \d\d:\d\d$/);
    expect(after(61_000, 43_300_000)).toMatch(/ends 2026-11-2[34] \d\d:\d\d$/);
    const budget: ProgressFacts = { ...facts, left: { ends: 'budget', ms: 62_000, moreDays: 0 } };
    expect(progressBlock(budget, 100)).toContain(' · 42 s · credits end in ~1 min');
  });

  it('leaves out what is not known yet', () => {
    expect(
      progressBlock(factsAfter([opened], 2000), 80)
        .split('\n')
        .slice(1),
    ).toEqual(['reading ids · 2 s', '0 calls · 0 credits']);
  });

  // Promise, Nothing lost: A resumed run reports that it reads kept answers
  it('says that kept answers are read, until the first call', () => {
    const again: RunEvent = { ...opened, answers: 80 };
    expect(progressBlock(factsAfter([again, { kind: 'replayed', ids: 100 }]), 80)).toContain(
      '\nreading 80 kept answers',
    );
    expect(progressBlock(factsAfter([again, sent]), 80)).not.toContain('kept');
  });

  it('shows no control characters of a reason', () => {
    const pause = { kind: 'paused' as const, reason: 'a\u001b[2Jb', untilMs: noonMs + 3000, moreDays: 0 };
    expect(progressBlock({ ...facts, pause }, 80)).toContain(String.raw`: a\x1b[2Jb`);
  });

  it('gives the window a title', () => {
    expect(progressTitle(facts)).toBe('52 % asset-export');
    expect(progressTitle(factsAfter([opened]))).toBe('asset-export');
  });
});
