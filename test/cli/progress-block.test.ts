import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { progressOnTerminal } from '../../src/cli/progress-block.ts';
import { noCounts } from '../../src/store/export-facts.ts';
import { FakeTerminal } from './fake-terminal.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it.each([80, 40])('the block is redrawn in place at %d columns, and gone at the end', (columns) => {
  const terminal = new FakeTerminal(columns);
  let now = 0;
  const progress = progressOnTerminal(
    {
      clock: { now: () => now, sleep: () => Promise.resolve() },
      creditsPerCall: 160,
      idsPerCall: 100,
      creditsLeft: (calls) => 9600 - calls * 160,
      logLevel: 'info',
    },
    terminal.asStream(),
  );
  progress.listener({ kind: 'opened', inputBytes: 1000, parts: 0, answers: 0, counts: noCounts });
  progress.listener({ kind: 'read', entries: 2000, inputBytes: 1000 });
  for (let call = 0; call < 10; call += 1) {
    progress.listener({ kind: 'sent', ids: 100 });
    progress.listener({ kind: 'answered', ids: 100, bytes: 5, ms: 1 });
    now += 200;
    vi.advanceTimersByTime(200);
  }
  const text = terminal.shown().join(' ').replaceAll(/ +/g, ' ');
  expect(text).toContain(' 50 % 1,000 of 2,000 ids · 500 ids/s · ETA 2.0 s 10 calls · 1,600 credits used · 8,000 left');
  expect(terminal.shown().filter((line) => line.includes('█'))).toHaveLength(1);

  progress.tell('a word between');
  expect(terminal.shown()[0]).toBe('a word between');
  progress.end();
  terminal.write('the summary\n');
  expect(terminal.shown().filter((line) => line !== '')).toEqual(['a word between', 'the summary']);
});
