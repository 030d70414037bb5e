import { describe, expect, it } from 'vitest';
import type { AnswerEntry } from '../../../src/core/client/policies/with-journal.ts';
import type { Service } from './judgement/services.ts';
import { simulate } from './judgement/simulate.ts';

const usual = { ids: 2000, idsPerCall: 100, overrun: { percent: 50, calls: 'auto' }, weighs: true } as const;

/** Every third answer is empty, and one id of so many does not exist. */
function lagging(oneOf: number): Service {
  let calls = 0;
  return ({ ids }) => {
    calls += 1;
    const isEmpty = calls % 3 === 0;
    return { ok: true, ms: 200, lacks: ids.filter((id) => isEmpty || id % oneOf === 7) };
  };
}

/** Runs one command several times, with so many calls at once, as if each run was killed before it committed. */
async function callsOf(oneOf: number, concurrencies: readonly number[]): Promise<number[]> {
  const run = { ...usual, service: lagging(oneOf), journal: new Map<string, AnswerEntry>() };
  const calls: number[] = [];
  for (const [n, concurrency] of concurrencies.entries()) {
    const outcome = await simulate({ ...run, seed: n, concurrency });
    const missing = outcome.missing.filter((id) => id % oneOf !== 7);
    expect({ exit: outcome.exit, missing }).toEqual({ exit: 0, missing: [] });
    calls.push(outcome.calls);
  }
  return calls;
}

it('one id whose second answers are stale is requested until one is not', async () => {
  let [calls, seconds] = [0, 0];
  const service: Service = ({ ids }) => {
    calls += 1;
    const isSecond = ids.some((id, n) => id !== (ids[0] ?? 0) + n) || ids.length < 3;
    if (isSecond && calls > 10) seconds += 1;
    const isStale = calls === 2 || (isSecond && seconds > 0 && seconds <= 20);
    return { ok: true, ms: 200, lacks: ids.filter((id) => isStale || id === 58) };
  };
  const run = { ...usual, ids: 60, idsPerCall: 3, service, concurrency: 1 };
  const outcome = await simulate({ ...run, seed: 1, journal: new Map<string, AnswerEntry>() });
  expect(outcome).toMatchObject({ exit: 0, missing: [58] });
  expect(seconds).toBeGreaterThan(20);
});

it('second answers to all calls so far are held against what those calls showed', async () => {
  let calls = 0;
  const service: Service = ({ ids }) => {
    calls += 1;
    const lacks = [ids.slice(0, 30), ids.slice(0, 30), ids, ids][calls - 1] ?? [];
    return { ok: true, ms: 200, lacks };
  };
  expect(await simulate({ ...usual, ids: 200, service, concurrency: 8, seed: 1 })).toMatchObject({
    exit: 0,
    missing: [],
  });
});

it('second answers without a witness settle nothing once there are witnesses', async () => {
  let calls = 0;
  const service: Service = ({ ids }) => {
    calls += 1;
    // Nothing is shown to the first run. Later the backend that lags gets what has no witness.
    return { ok: true, ms: 200, lacks: calls <= 4 || ids.every((id) => id < 100) ? ids : [] };
  };
  const run = { ...usual, ids: 600, service, concurrency: 8, journal: new Map<string, AnswerEntry>() };
  await simulate({ ...run, seed: 1, killAt: 3 });
  expect(await simulate({ ...run, seed: 2 })).toMatchObject({ exit: 0, missing: [] });
});

describe('a run that was killed behind its second requests', () => {
  it.each([[[1, 1]], [[1, 8]], [[8, 3]]])('pays for none of them again (%o calls at once)', async (concurrencies) => {
    const [first = 0, second] = await callsOf(Number.POSITIVE_INFINITY, concurrencies);
    expect(first).toBeGreaterThan(20);
    expect(second).toBe(0);
  });

  it('requests again what it doubts by now, and pays for nothing twice', async () => {
    expect((await callsOf(50, [8, 8, 3])).at(-1)).toBe(0);
  });
});
