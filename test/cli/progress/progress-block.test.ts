import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { progressOnTerminal } from '../../../src/cli/progress/progress-block.ts';
import { noCounts } from '../../../src/places/export/export-facts.ts';
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
      clock: { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() },
      idsPerCall: 100,
      rowsPerPart: 500,
      budget: { creditsPerCall: 160, creditsPerRun: 9600, whenSpent: 'stop', bookedBefore: 0 },
      logLevel: 'info',
    },
    terminal.asStream(),
  );
  progress.listener({ kind: 'opened', inputBytes: 1000, parts: 0, answers: 0, counts: noCounts });
  progress.listener({ kind: 'read', entries: 2000, inputBytes: 1000 });
  for (let call = 0; call < 10; call += 1) {
    progress.listener({ kind: 'sent', ids: 100 });
    progress.listener({ kind: 'answered', ids: 100, bytes: 5, ms: 1 });
    progress.listener({ kind: 'settled', counts: { ...noCounts, read: 100, exported: 100 } });
    now += 200;
    vi.advanceTimersByTime(200);
  }
  const text = terminal.shown().join(' ').replaceAll(/ +/g, ' ');
  expect(text).toContain(
    '1,000 of 2,000 ids · 500 ids/s · 2 s 1,000 exported 10 calls · 1,600 credits, 8,000 left · 50 B',
  );
  expect(terminal.titles.at(-1)).toBe('50 % asset-export');
  expect(terminal.shown().filter((line) => line.includes('█'))).toHaveLength(1);

  progress.tell('a word between');
  expect(terminal.shown()[0]).toBe('a word between');
  progress.end();
  terminal.write('the summary\n');
  expect(terminal.shown().filter((line) => line !== '')).toEqual(['a word between', 'the summary']);
});
