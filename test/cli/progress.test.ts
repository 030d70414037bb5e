import { describe, expect, it } from 'vitest';
import {
  addEvent,
  entriesDone,
  entriesTotal,
  newProgressState,
  type ProgressState,
} from '../../src/cli/progress-state.ts';
import { etaText, progressBlock, type ProgressView } from '../../src/cli/progress-text.ts';
import { speedometer } from '../../src/cli/progress-view.ts';
import type { RunEvent } from '../../src/pipeline/run-events.ts';
import { noCounts, noNotes } from '../../src/store/export-facts.ts';

function stateAfter(...events: RunEvent[]): ProgressState {
  const state = newProgressState();
  for (const event of events) addEvent(state, event);
  return state;
}

const opened: RunEvent = { kind: 'opened', inputBytes: 10_000, parts: 0, answers: 0, counts: noCounts };
const sent: RunEvent = { kind: 'sent', ids: 100 };
const answered: RunEvent = { kind: 'answered', ids: 100, bytes: 5, ms: 1 };

function viewOf(state: ProgressState, view: Partial<ProgressView> = {}): ProgressView {
  return { state, idsPerSecond: 50, nowMs: 0, creditsPerCall: 160, creditsLeft: undefined, idsPerCall: 100, ...view };
}

describe('what is known of a run', () => {
  it('counts calls, answers, retries and parts', () => {
    const commit = { part: 0, counts: { ...noCounts, read: 120 }, files: [], drift: [], notes: noNotes, inputBytes: 1 };
    const retry: RunEvent = { kind: 'retry', reason: 'HTTP 503', waitMs: 5, attempt: 1 };
    const state = stateAfter(opened, sent, retry, sent, sent, answered, { kind: 'committed', commit });
    expect(state).toMatchObject({ callsSent: 3, callsInFlight: 1, retries: 1, partsCommitted: 1, idsAnswered: 100 });
  });

  it('knows the number of entries when the inputs are read, and estimates it before', () => {
    expect(entriesTotal(stateAfter(opened))).toBeUndefined();
    expect(entriesTotal(stateAfter(opened, { kind: 'read', entries: 30, inputBytes: 2500 }))).toBe(120);
    expect(entriesTotal(stateAfter(opened, { kind: 'read', entries: 90, inputBytes: 10_000 }))).toBe(90);
  });

  it('counts what was committed before as done, and never more than was read', () => {
    const again: RunEvent = { ...opened, parts: 1, counts: { ...noCounts, read: 200 } };
    expect(entriesDone(stateAfter(again))).toBe(200);
    const read: RunEvent = { kind: 'read', entries: 250, inputBytes: 10_000 };
    expect(entriesDone(stateAfter(again, read, sent, answered))).toBe(250);
  });

  it('waits until the next call is sent', () => {
    const paused: RunEvent = { kind: 'paused', reason: 'HTTP 429', untilMs: 5000, concurrency: 4 };
    expect(stateAfter(opened, paused).waiting).toEqual({ reason: 'HTTP 429', untilMs: 5000 });
    expect(stateAfter(opened, paused, sent).waiting).toBeUndefined();
  });
});

describe('the block on a terminal', () => {
  const read: RunEvent = { kind: 'read', entries: 1000, inputBytes: 5000 };
  const calls = [sent, answered, sent, answered, sent, answered];
  const state = stateAfter(opened, read, ...calls, { kind: 'retry', reason: 'HTTP 503', waitMs: 5, attempt: 1 });

  it('is a bar and two lines at 80 columns', () => {
    expect(progressBlock(viewOf(state, { creditsLeft: 9520 }), 80)).toBe(
      [
        `${'█'.repeat(9)}${'░'.repeat(51)} 15 %`,
        '300 of ~2,000 ids · 50 ids/s · ETA 34.0 s',
        '3 calls · 480 credits used · 9,520 left · 0 parts · 1 retry',
      ].join('\n'),
    );
  });

  it('keeps every fact at 40 columns, none of its lines wider', () => {
    const lines = progressBlock(viewOf(state, { creditsLeft: 9520 }), 40).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(40);
    expect(lines.slice(1).join(' ')).toBe(
      '300 of ~2,000 ids · 50 ids/s · ETA 34.0 s 3 calls · 480 credits used · 9,520 left · 0 parts · 1 retry',
    );
  });

  it('says what it waits for, and no longer than it waits', () => {
    const waiting = { ...state, waiting: { reason: 'HTTP 429', untilMs: 90_000 } };
    expect(progressBlock(viewOf(waiting), 80)).toContain('\nwaiting 1 min 30 s: HTTP 429');
    expect(progressBlock(viewOf(waiting, { nowMs: 90_000 }), 80)).not.toContain('waiting');
  });

  it('says that ids are being read before it knows how many', () => {
    expect(progressBlock(viewOf(stateAfter(opened)), 80)).toContain('reading ids · 50 ids/s · ETA –');
  });
});

describe('the time left', () => {
  const state = stateAfter(opened, { kind: 'read', entries: 1000, inputBytes: 10_000 });

  it('is that of the ids left', () => {
    expect(etaText(viewOf(state))).toBe('ETA 20.0 s');
  });

  it('is that of the budget where it ends before the ids', () => {
    expect(etaText(viewOf(state, { creditsLeft: 500 }))).toBe('budget ends in 6.0 s');
    expect(etaText(viewOf(state, { creditsLeft: 1600 }))).toBe('ETA 20.0 s');
  });

  it('is not known before the first answers', () => {
    expect(etaText(viewOf(state, { idsPerSecond: 0 }))).toBe('ETA –');
  });
});

it('the speed is that of the last looks', () => {
  const state = newProgressState();
  let now = 0;
  const speed = speedometer({ now: () => now, sleep: () => Promise.resolve() }, state);
  expect(speed()).toBe(0);
  for (let look = 0; look < 40; look += 1) {
    now += 200;
    state.idsAnswered += look < 15 ? 1000 : 10;
    speed();
  }
  expect(Math.round(speed())).toBe(50);
});
