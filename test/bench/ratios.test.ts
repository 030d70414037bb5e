import { expect, it } from 'vitest';
import { ratioOf, type Sample } from '../../bench/harness/measure-scenarios.ts';
import { median } from '../../bench/harness/statistics.ts';

function sample(name: string, place: { round: number; turn: number }, cpuUs: number): Sample {
  const rest = {
    wallUs: 0,
    systemUs: 0,
    gcUs: 0,
    faults: 0,
    fewCpuS: 0,
    wholeCpuS: 0,
    startCpuS: 0,
    peakMiB: 0,
    calls: 0,
    neededCalls: 0,
  };
  return { name, ...place, cpuUs, ...rest };
}

it('a ratio is of the nearest runs of each round, and the median of the rounds', () => {
  const samples = [1, 2, 3].flatMap((round) => [
    sample('loop', { round, turn: 0 }, 1000),
    sample('loop', { round, turn: 8 }, 10 * round),
    sample('export', { round, turn: 9 }, 20),
  ]);
  expect(ratioOf(samples, { of: 'export', beside: 'loop' }, 'cpuUs')).toBe(1);
});

it('a ratio of what was not run is no number', () => {
  expect(ratioOf([], { of: 'export', beside: 'loop' }, 'cpuUs')).toBeNaN();
});

it('the median is the middle value, or between the two', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
});
