import { expect, it } from 'vitest';
import { inTurns } from '../../bench/harness/measure-in-turns.ts';

it('what two runs took that took turns is compared pair by pair, and the median counts', () => {
  const found = [
    { of: 'export', beside: 'loop', ofCpuS: 10, besideCpuS: 7 },
    { of: 'export', beside: 'loop', ofCpuS: 20, besideCpuS: 16 },
    { of: 'export', beside: 'loop', ofCpuS: 10, besideCpuS: 90 },
    { of: 'other', beside: 'loop', ofCpuS: 1, besideCpuS: 50 },
    { of: 'export', beside: 'other', ofCpuS: 1, besideCpuS: 60 },
  ];
  expect(inTurns(found, { of: 'export', beside: 'loop' })).toBe(0.8);
  expect(inTurns(found, { of: 'loop', beside: 'export' })).toBeNaN();
});
