import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMemoryLedger } from '../../../src/core/client/ledger/credit-ledger.ts';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { getAssets } from '../../../src/core/run/get-assets.ts';
import { newBrake } from '../../../src/core/run/follow-run.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { idOf, recordsOf, refusal } from '../client/support/calls.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { threadsHere } from '../../support/threads-here.ts';
import { type AnswerOfTest, flaky, good, twentyCalls, unavailable } from '../../support/twenty-calls.ts';

describe('a run that needs more calls than planned', () => {
  // Promise, Nothing overspent: Beyond its overrun a run ends with 10, and resumes
  it('ends with exit 10 before it sends one too many, and resumes', async () => {
    const { run, sent, planned } = await twentyCalls(flaky);
    expect(await planned({ overrun: '25%,2' })).toMatchObject({
      calls: 20,
      credits: 3200,
      callsAtMost: 27,
      overrunCredits: 7 * 160,
    });
    const stopped = await run({ flags: { overrun: '25%,2' } });
    expect(stopped).toMatchObject({ state: 'unfinished', error: { exit: 'overrun', exitCode: 10 } });
    expect(stopped.error?.message).toMatch(/calls? w(as|ere) planned so far and \d+ sent: .*Last errors: HTTP 503\./);
    expect(stopped.callsOfRun).toBe(sent());
    expect(sent()).toBeLessThanOrEqual(27);
    expect(await run({ flags: { overrun: 'none' } })).toMatchObject({ state: 'complete' });
    expect(sent()).toBe(40);
  });

  it('counts over all slices of a process, each of which has a client of its own', async () => {
    const slices = { 'entries-per-slice': '40', scratch: join(await tempFolder(), 'scratch') };
    // One failure in each of five slices: four are allowed.
    const odd: AnswerOfTest = (call, attempt) =>
      attempt === 1 && (first.get(call.ids.first ?? '') ?? 0) % 4 === 1 ? unavailable : recordsOf(call);
    const first = new Map<string, number>();
    const counted: AnswerOfTest = (call, attempt) => {
      if (attempt === 1) first.set(call.ids.first ?? '', first.size);
      return odd(call, attempt);
    };
    const { run, sent } = await twentyCalls(counted);
    const flags = { ...slices, out: 's3://bucket/one', concurrency: '1', overrun: '4' };
    expect(await run({ flags })).toMatchObject({ error: { exit: 'overrun' } });
    expect(sent()).toBeLessThanOrEqual(24);
    const again = await twentyCalls(counted);
    first.clear();
    expect(await again.run({ flags: { ...flags, out: 's3://bucket/two', overrun: '5' } })).toMatchObject({
      state: 'complete',
    });
  });

  it('counts over all threads, which say what repeats', async () => {
    const { run, sent, clock, openWire } = await twentyCalls((call, attempt) =>
      call.ids.length > 5 || (call.ids.length > 1 && attempt < 2)
        ? { ...refusal('size', 'at most 5 ids'), doubtful: false }
        : recordsOf(call),
    );
    const { threads } = threadsHere(2, { clock, files: localDisk, openWire });
    const outcome = await run({ flags: { overrun: '10', threads: '2' }, context: { threads } });
    expect(outcome).toMatchObject({ state: 'unfinished', error: { exit: 'overrun' } });
    expect(sent()).toBeLessThanOrEqual(30);
  });

  it('counts over two exports that one command makes', async () => {
    const { run, folder } = await twentyCalls(flaky);
    const brake = newBrake({ overrun: [25] });
    const flags = { overrun: '25' };
    expect(await run({ flags, context: { brake } })).toMatchObject({ state: 'complete' });
    const other = { ...flags, out: join(folder, 'other'), 'ids-per-call': '20' };
    expect(await run({ flags: other, context: { brake } })).toMatchObject({ error: { exit: 'overrun' } });
  });

  it('is no run in which all goes well, without any overrun: neither small batches nor single calls are one', async () => {
    const { run, sent, planned } = await twentyCalls((call) =>
      call.method === 'getAsset' ? refusal('notFound') : recordsOf(call, [...call.ids].slice(1)),
    );
    const flags = { overrun: '0', 'show-unverified-collections': 'true' };
    const { calls, singleCallsAtMost, callsAtMost, overrunCredits } = await planned(flags);
    expect({ calls, singleCallsAtMost, callsAtMost, overrunCredits }).toEqual({
      callsAtMost: 220,
      calls: 20,
      singleCallsAtMost: 200,
      overrunCredits: 0,
    });
    expect(await run({ flags })).toMatchObject({ state: 'complete', account: { counts: { missing: 20 } } });
    expect(sent()).toBe(40);
  });
});

describe('a service that takes a tenth of the ids a call', () => {
  it('ends each run within its limit, with the size; plan prints what is left, and the flag that allows it', async () => {
    const shrunk: AnswerOfTest = (call) =>
      call.ids.length > 1 ? { ...refusal('size', 'at most 1 id per call'), status: 413 } : recordsOf(call);
    const { run, planned } = await twentyCalls(shrunk);
    const stopped = await run({ flags: { overrun: '50%,25' } });
    expect(stopped).toMatchObject({
      error: {
        exit: 'overrun',
        message: expect.stringMatching(
          /the service takes at most 1 id per call, not 10, so the ids so far need \d+ calls/,
        ) as string,
        todo: expect.stringMatching(/plan prints the calls that are left: allow them with --overrun N/) as string,
      },
    });
    const { calls, callsAtMost, warnings } = await planned({ overrun: '50%,25' });
    expect(calls).toBe(200 - (stopped.callsOfRun - 1));
    expect(callsAtMost).toBe(47);
    expect(warnings).toEqual([
      `the service takes fewer ids per call than planned, so ${calls} calls are left, and the run ends with exit 10 after 47: allow them with --overrun ${calls}`,
    ]);
    const again = await run({ flags: { overrun: '50%,25' } });
    expect(again).toMatchObject({ error: { exit: 'overrun' } });
    expect(again.callsOfRun).toBeLessThanOrEqual(47);
    const { calls: left } = await planned();
    // A batch may leave whole before the kept refusal is read.
    const resumed = await run({ flags: { overrun: String(left) } });
    expect(resumed).toMatchObject({ state: 'complete' });
    expect(resumed.callsOfRun).toBeLessThanOrEqual(left + 4);
  });
});

it('get ends with exit 10 too', async () => {
  const { flags, openWire, clock, sent } = await twentyCalls(() => unavailable);
  const { job } = loadJob({ flags: { ...flags, overrun: '3', retries: '1000' }, environment: {}, folder: '/' });
  const never = new AbortController().signal;
  const fates = getAssets(
    { ids: [idOf(1)], job },
    {
      clock,
      openWire,
      random: () => 0.5,
      service: { url: flags.url, apiKey: 'key' },
      proxy: undefined,
      ledger: createMemoryLedger(),
      stop: never,
      abort: never,
      listener: () => undefined,
    },
  );
  await expect(fates.next()).rejects.toMatchObject({ exit: 'overrun' });
  expect(sent()).toBe(4);
});

it('a run without trouble passes no limit', async () => {
  const { run, sent } = await twentyCalls(good);
  expect(await run({ flags: { overrun: '0' } })).toMatchObject({ state: 'complete', callsOfRun: 20 });
  expect(sent()).toBe(20);
});
