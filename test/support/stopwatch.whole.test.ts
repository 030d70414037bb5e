import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { expect, it, onTestFinished } from 'vitest';
import { startStopwatch } from './stopwatch.ts';

it.runIf(process.platform === 'linux')(
  'a stopwatch does not count the time for which a process waits for a core',
  async () => {
    // Three that want each core: two thirds of the time each of them waits.
    const busy = Array.from({ length: 3 * availableParallelism() }, () => spawn(process.execPath, ['-e', 'for (;;);']));
    onTestFinished(() => {
      for (const child of busy) child.kill('SIGKILL');
    });
    const [ms, all] = [startStopwatch(busy[0]?.pid ?? 0), performance.now()];
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(ms()).toBeLessThan(0.7 * (performance.now() - all));
  },
);

it('a stopwatch counts all other time', async () => {
  const ms = startStopwatch();
  // Long beside the few turns for which the worker, which also reports, waits for a core meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(ms()).toBeGreaterThan(250);
});

it('a stopwatch of another process does not count the time for which the test is late to look', async () => {
  const sleeper = spawn('sleep', ['60']);
  onTestFinished(() => void sleeper.kill('SIGKILL'));
  const ms = startStopwatch(sleeper.pid ?? 0);
  await new Promise((resolve) => setTimeout(resolve, 120));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(ms()).toBeGreaterThan(120);
  expect(ms()).toBeLessThan(500);
});
