import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createLocalPace,
  type DepartingCall,
  PassedOverrun,
  type SharedPace,
} from '../../../src/core/client/policies/shared-pace.ts';
import { steps } from '../../model/support/small-fleet.ts';
import { createHurriedClock } from '../../support/hurried-clock.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { flaky, twentyCalls, unavailable } from '../../support/twenty-calls.ts';

describe('the overrun of a fleet without a database', () => {
  it('is divided between its workers, except the share', async () => {
    for (const [count, most] of [
      [1, 16],
      [4, 4],
    ] as const) {
      const { run, sent } = await twentyCalls(() => unavailable);
      const flags = { out: 's3://bucket/fleet', scratch: join(await tempFolder(), 'scratch'), overrun: '16' };
      await run({ flags, make: steps.enqueue() });
      const outcome = await run({ flags: { ...flags, retries: '1000' }, make: steps.work({ count }) });
      expect(outcome).toMatchObject({ error: { exit: 'overrun' } });
      expect(sent()).toBeLessThanOrEqual(20 + most);
      expect(sent()).toBeGreaterThanOrEqual(most);
    }
  });
});

describe('the overrun of a fleet with a database', () => {
  it('is counted there for the whole export, whichever worker sends, and over restarts', async () => {
    const { run } = await twentyCalls(flaky);
    const flags = { out: 's3://bucket/fleet', scratch: join(await tempFolder(), 'scratch'), 'entries-per-slice': '40' };
    await run({ flags, make: steps.enqueue() });
    const departures: DepartingCall[] = [];
    const pace = (most: number): SharedPace => ({
      ...createLocalPace(createHurriedClock(), undefined),
      turn: (_, departure) => {
        if (departure !== undefined) departures.push(departure);
        if (departures.length <= most) return Promise.resolve(0);
        return Promise.reject(new PassedOverrun({ planned: 7.2, sent: most }));
      },
    });
    const stopped = await run({ flags, make: steps.work({ count: 4 }), context: { pace: pace(12) } });
    expect(stopped).toMatchObject({
      state: 'unfinished',
      error: { exit: 'overrun', message: expect.stringMatching(/^8 calls were planned so far and 12 sent/) as string },
    });
    expect(await run({ flags, make: steps.work(), context: { pace: pace(100) } })).toMatchObject({ state: 'complete' });
    const [{ export: name, ...first } = { export: '' }] = departures;
    expect(first).toEqual({ planned: 1, sent: 1, mostPlanned: 20, overrun: { percent: 50, calls: 240 } });
    expect(name).toMatch(/^[0-9a-f]{16}-\d+$/);
    expect(new Set(departures.map((each) => each.export)).size).toBe(1);
    // Another export has its own sums.
    await run({ flags: { ...flags, out: 's3://bucket/other' }, make: steps.enqueue() });
    await run({ flags: { ...flags, out: 's3://bucket/other' }, make: steps.work(), context: { pace: pace(200) } });
    expect(new Set(departures.map((each) => each.export)).size).toBe(2);
  });
});
