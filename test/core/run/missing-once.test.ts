import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { localDisk } from '../../../src/places/files/disk.ts';
import { recordsOf } from '../client/support/calls.ts';
import { threadsHere } from '../../support/threads-here.ts';
import { type AnswerOfTest, twentyCalls } from '../../support/twenty-calls.ts';

/** Every third answer is empty, as from a backend of three that lags behind. */
function lagging(): AnswerOfTest {
  let calls = 0;
  return (call) => {
    calls += 1;
    return recordsOf(call, calls % 3 === 0 ? [] : [...call.ids]);
  };
}

const flags = { 'ids-per-call': '40', 'rows-per-part': '80' };

it.each([1, 2])('an answer that lacks what others show is no answer (%i threads)', async (threads) => {
  const { run, folder, sent, clock, openWire } = await twentyCalls(lagging());
  const crew = threads === 1 ? {} : threadsHere(2, { clock, files: localDisk, openWire });
  const outcome = await run({ flags: { ...flags, threads: String(threads) }, context: crew });
  expect(outcome).toMatchObject({ state: 'complete', account: { counts: { exported: 200, missing: 0 } } });
  expect(sent()).toBeGreaterThan(5);
  expect(sent()).toBeLessThanOrEqual(12);
  const parts = [0, 1, 2].map((n) => readFileSync(join(folder, `out/csv/assets/part-0000${n}.csv`), 'utf8'));
  expect(parts.join('').trim().split('\n')).toHaveLength(200 + 3);
});

it('ids that no answer shows are missing, by two answers', async () => {
  const { run, sent } = await twentyCalls((call) =>
    recordsOf(
      call,
      [...call.ids].filter((id) => !id.startsWith('2')),
    ),
  );
  const outcome = await run({ flags });
  expect(outcome).toMatchObject({ state: 'complete', account: { counts: { failed: 0 } } });
  expect(sent()).toBeLessThanOrEqual(8);
});

it('an answer that is mostly that of another call loses no id', async () => {
  let calls = 0;
  let before: readonly string[] = [];
  const { run, sent } = await twentyCalls((call) => {
    calls += 1;
    const own = [...call.ids];
    const cached = calls % 5 === 0 ? [...own.slice(0, 3), ...before.slice(0, 17)] : own;
    before = own;
    return recordsOf(call, cached);
  });
  const outcome = await run({ flags: { ...flags, 'ids-per-call': '20', concurrency: '1' } });
  expect(outcome).toMatchObject({ state: 'complete', account: { counts: { exported: 200, missing: 0 } } });
  expect(sent()).toBeLessThanOrEqual(25);
});
