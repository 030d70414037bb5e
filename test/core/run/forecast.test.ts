import { describe, expect, it } from 'vitest';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { forecast } from '../../../src/core/run/calls-left.ts';

const nowMs = Date.parse('2026-11-23T20:00:00Z');

function forecastOf(calls: number, budget: object, booked = 0) {
  const { job } = loadJob({
    job: { ids: { from: 'a' }, service: { url: 'https://s.example' }, output: { dir: 'o' }, budget },
  });
  return forecast({ calls, job, booked, nowMs });
}

describe('a forecast', () => {
  it('takes what is booked today from the budget of today', () => {
    const budget = { creditsPerDay: 30_000, creditsPerSecond: 1.6 };
    expect(forecastOf(2, budget, 29_920)).toMatchObject({
      days: 2,
      leftToday: 80,
      seconds: 200,
      completesAt: '2026-11-24T00:03:20.000Z',
    });
    expect(forecastOf(2, budget, 0)).toMatchObject({ days: 1, completesAt: '2026-11-23T20:03:20.000Z' });
    expect(forecastOf(2, budget, 29_760)).toMatchObject({ days: 2, completesAt: '2026-11-24T00:01:40.000Z' });
    expect(forecastOf(2, budget, 99_999)).toMatchObject({ days: 2, leftToday: 0 });
  });

  it('waits for each day that is needed', () => {
    expect(forecastOf(25, { creditsPerDay: 1600, creditsPerSecond: 160 })).toMatchObject({
      days: 3,
      completesAt: '2026-11-25T00:00:05.000Z',
    });
  });

  it('ends a pace that a day is too short for', () => {
    expect(forecastOf(3, { creditsPerDay: 1600, creditsPerSecond: 0.001 }).completesAt).toBe(
      '2026-11-26T20:26:40.000Z',
    );
    expect(forecastOf(3, { creditsPerSecond: 0.001 }).completesAt).toBe('2026-11-29T09:20:00.000Z');
  });

  it('assumes a second a call where no pace is set', () => {
    expect(forecastOf(80, {})).toEqual({
      days: null,
      seconds: null,
      leftToday: null,
      completesAt: '2026-11-23T20:00:10.000Z',
    });
  });

  it('has no end where nothing is to be sent, or nothing may be', () => {
    expect(forecastOf(0, { creditsPerDay: 1600 })).toMatchObject({ days: 0, completesAt: null });
    expect(forecastOf(1, { creditsPerDay: 159 })).toMatchObject({ days: 'never', completesAt: null });
    expect(forecastOf(5, { creditsPerDay: 0, creditsPerCall: 0 })).toMatchObject({ days: 1 });
  });
});
