import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { verifyBlock, verifyOnTerminal } from '../../../src/cli/progress/verify-progress.ts';
import { FakeTerminal } from './fake-terminal.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const half = { files: 3, filesTotal: 1200, bytes: 2_000_000_000, bytesTotal: 4_000_000_000 };

describe('verify on a terminal', () => {
  it('redraws how far it is in place, and leaves nothing behind', () => {
    const terminal = new FakeTerminal(80);
    let now = 0;
    const shown = verifyOnTerminal(
      { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() },
      terminal.asStream(),
    );
    for (const bytes of [1_000_000_000, 2_000_000_000]) {
      now += 1000;
      shown.onProgress({ ...half, bytes });
      vi.advanceTimersByTime(200);
    }
    expect(terminal.shown().filter((line) => line.includes('█'))).toHaveLength(1);
    expect(terminal.shown().join(' ')).toContain('3 of 1,200 files · 2.00 GB of 4.00 GB · 1.00 GB/s · ETA 2.0 s');
    shown.end();
    terminal.write('out: all is well\n');
    expect(terminal.shown().filter((line) => line !== '')).toEqual(['out: all is well']);
  });

  it.each([80, 40, 20])('fits %d columns', (columns) => {
    for (const line of verifyBlock(half, 1000, columns).split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
  });

  it('knows no time left before anything is read, and none for an export of nothing', () => {
    expect(verifyBlock({ ...half, bytes: 0 }, 0, 80)).toContain('ETA –');
    expect(verifyBlock({ files: 0, filesTotal: 0, bytes: 0, bytesTotal: 0 }, 5, 80)).toContain('100 %');
  });
});
