import { expect, it } from 'vitest';
import { localDisk } from '../../../src/places/files/disk.ts';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { errorOf } from '../../../src/core/run/tolerance.ts';
import { columnLines } from '../../../src/cli/output/summary-text.ts';
import { recordsOf } from '../client/support/calls.ts';
import { threadsHere } from '../../support/threads-here.ts';
import { type AnswerOfTest, twentyCalls } from '../../support/twenty-calls.ts';

const nothing: AnswerOfTest = (call) => recordsOf(call, []);
/** 5,000 ids in 20 calls. */
const flags = { 'ids-per-call': '250', 'rows-per-part': '500' };

it.each([1, 2])('a run of which no id is an asset stops after its first 1,000 ids (%i threads)', async (threads) => {
  const { run, sent, clock, openWire } = await twentyCalls(nothing, 5000);
  const crew = threads === 1 ? {} : threadsHere(2, { clock, files: localDisk, openWire });
  const first = await run({ flags: { ...flags, threads: String(threads) }, context: crew });
  expect(first).toMatchObject({
    state: 'unfinished',
    account: { counts: { exported: 0, missing: 0 } },
    error: { exit: 'notTolerated' },
  });
  expect(first.error?.message).toMatch(/^none of the first 1,\d{3} ids is an asset/);
  expect(first.error?.todo).toContain('--allow-none');
  expect(sent()).toBeLessThanOrEqual(threads === 1 ? 12 : 14);
  const paid = sent();
  expect(await run({ flags: { ...flags, threads: String(threads) }, context: crew })).toMatchObject({
    error: { exit: 'notTolerated' },
  });
  // Some calls may leave while the kept answers are counted, but fewer than the four that it would take without them.
  expect(sent() - paid).toBeLessThan(4);
  const last = await run({ flags: { ...flags, threads: String(threads), 'allow-none': true }, context: crew });
  expect(last).toMatchObject({ state: 'complete', account: { counts: { missing: 5000 } } });
});

it.each([1, 2])('three full calls without an asset are enough, one after another (%i threads)', async (threads) => {
  const { run, sent, clock, openWire } = await twentyCalls(nothing, 20_000);
  const crew = threads === 1 ? {} : threadsHere(2, { clock, files: localDisk, openWire });
  const outcome = await run({ flags: { 'ids-per-call': '1000', threads: String(threads) }, context: crew });
  expect(outcome).toMatchObject({ state: 'unfinished', error: { exit: 'notTolerated' } });
  // One more may leave while the third answer is weighed, and another one while a thread says so.
  expect(sent()).toBeLessThanOrEqual(3 + threads);
});

it('fewer ids are requested three times, and then missing: the export is complete and not tolerated', async () => {
  const { run, sent, flags: ofAll } = await twentyCalls(nothing, 40);
  const { job } = loadJob({ flags: ofAll, environment: {}, folder: '/' });
  const outcome = await run({ flags: { 'ids-per-call': '40' } });
  expect(outcome).toMatchObject({ state: 'complete', account: { counts: { read: 40, missing: 40 } } });
  expect(errorOf(outcome, job)).toMatchObject({
    exit: 'notTolerated',
    message: 'no requested id is an asset (40 ids)',
  });
  // Second requests leave room for witnesses, so each is two calls here.
  expect(sent()).toBe(5);
});

it('one answer of a backend that lags ends nothing', async () => {
  let calls = 0;
  const { run } = await twentyCalls((call) => {
    calls += 1;
    return recordsOf(call, calls <= 2 ? [] : [...call.ids]);
  }, 20_000);
  expect(await run({ flags: { 'ids-per-call': '1000' } })).toMatchObject({
    state: 'complete',
    account: { counts: { exported: 20_000, missing: 0 } },
  });
});

it.each(['wallet', 'Owner', 'holder_address', 'update authority', 'creator'])(
  'a column %s is named before anything is paid',
  (column) => {
    const [line] = columnLines([{ column, guessed: true, input: 'list.csv' }]);
    expect(line).toContain('these look like wallets, not assets');
  },
);
