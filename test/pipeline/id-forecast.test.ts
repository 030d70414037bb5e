import { describe, expect, it } from 'vitest';
import { IdForecast } from '../../src/pipeline/id-forecast.ts';

describe('a forecast of ids', () => {
  it('takes the rest of an input to be like what was read of it, once that is enough', () => {
    let read = 0;
    const forecast = new IdForecast([{ bytes: 10_000_000 }, { bytes: 50_000_000 }], () => read);
    const totals: number[] = [];
    for (const [source, bytes, known] of [
      [0, 0, 1000],
      [0, 400_000, 20_000],
      [0, 2_000_000, 101_000],
      [0, 10_000_000, 501_000],
      [1, 10_000_000, 501_000],
      [1, 11_000_000, 521_000],
      [1, 35_000_000, 601_000],
      [1, 60_000_000, 601_000],
    ] as const) {
      read = bytes;
      totals.push(forecast.total(source, known));
    }
    expect(totals).toEqual([1000, 20_000, 501_000, 501_000, 501_000, 521_000, 701_000, 601_000]);
  });
});
