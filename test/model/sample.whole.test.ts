import { describe, expect, it } from 'vitest';
import { sampleOf } from './support/sample.ts';

describe('the sample of the models', () => {
  it.each([{ TEST: 'all' }, { MODEL: 'all' }])('is everything with %o', (environment) => {
    expect(sampleOf({ ...environment, MODEL_OFFSET: '3' })).toEqual({ step: 1, offset: 0 });
  });

  it('is every 16th operation, from the same one for the same commit', () => {
    const { step, offset } = sampleOf({});
    expect(step).toBe(16);
    expect(offset).toBeGreaterThanOrEqual(0);
    expect(sampleOf({})).toEqual({ step, offset });
  });

  it('is repeated by its offset', () => {
    const all = ['0', '1', '7', '8', '9'].map((MODEL_OFFSET) => sampleOf({ MODEL_OFFSET }).offset);
    expect(all).toEqual([0, 1, 7, 8, 9]);
    expect(() => sampleOf({ MODEL_OFFSET: 'two' })).toThrow('MODEL_OFFSET is no whole number: two');
  });
});
