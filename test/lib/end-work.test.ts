import { expect, it } from 'vitest';
import { thenCleanUp } from '../../src/lib/end-work.ts';

const fails = (message: string) => () => Promise.reject(new Error(message));

it('what the work threw is thrown, whatever fails behind it, and every step runs', async () => {
  const steps: unknown[] = [];
  const cleanUp = [
    (result: unknown) => {
      steps.push(result);
      return fails('read-only')();
    },
    async (result: unknown) => void steps.push(result),
  ];
  await expect(thenCleanUp({ work: fails('the cause'), cleanUp })).rejects.toThrow('the cause');
  expect(steps).toEqual([undefined, undefined]);
});

it('a result that reports a failure is not hidden either; without one, what cleans up may fail', async () => {
  const work = () => Promise.resolve(8);
  const cleanUp = [fails('read-only'), fails('also')];
  expect(await thenCleanUp({ work, hasFailed: (exit) => exit !== 0, cleanUp })).toBe(8);
  await expect(thenCleanUp({ work, hasFailed: (exit) => exit !== 8, cleanUp })).rejects.toThrow('read-only');
});
