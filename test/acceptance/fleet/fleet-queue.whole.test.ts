import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { nextUtcMidnight } from '../../../src/lib/clock.ts';
import type { GeneratedServiceOptions } from '../../support/service/generated-service.ts';
import { runsAll } from '../../support/lane.ts';
import { type ProgramRun, runProgram } from '../../support/run-program.ts';
import { postgresOfTests } from '../../wings/warehouse/postgres-of-tests.ts';
import { bucketServer } from './fleet-stores.ts';
import { expectWhole, type Fleet, startFleet } from './start-fleet.ts';

const database = await postgresOfTests('workers that share a database are not tested');
const store = await bucketServer();
afterAll(store.stop);

/** Ten ids each; four of them a slice. */
const calls = runsAll ? 60 : 24;

/** Ids for `calls`, that were enqueued, and workers that share a database. */
async function fleetOf(service: GeneratedServiceOptions = {}, flags: Readonly<Record<string, string>> = {}) {
  await database.query(`drop schema if exists asset_export cascade; drop schema if exists asset_export_queue cascade`);
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_FLEET: database.address };
  return startFleet({ store, ids: { entries: calls * 10 }, service, flags, environment });
}

/** Ends of workers that nobody kills: three programs, or one worker in this process. */
function ends({ start, program }: Fleet): Promise<ProgramRun[]> {
  return Promise.all(runsAll ? [0, 1, 2].map((n) => start(`disk-${n}`).ended) : [program('disk-0', 'work')]);
}

/** Jobs that wait, by state. */
async function jobs(): Promise<string> {
  return database.query(`select state, count(*) from asset_export_queue.job group by state order by state`);
}

async function booked(): Promise<number> {
  return Number(await database.query(`select coalesce(sum(booked), 0) from asset_export.day`));
}

describe.skipIf(database.isMissing)('workers that share a database', () => {
  it.runIf(runsAll)(
    'take slices from its queue, and the last one completes the export',
    async () => {
      const fleet = await fleetOf({ delayMs: 20 });
      expect(await jobs()).toMatch(/^wait\w*\|15\n$/);
      const workers = [0, 1, 2].map((n) => fleet.start(`disk-${n}`, '--log-level', 'warn'));
      for (const { ended } of workers) expect(await ended).toMatchObject({ exit: 0, stderr: '' });
      expect(fleet.service.counts().calls).toBe(calls);
      expect(await booked()).toBe(calls * 160);
      expect(await jobs()).toBe('');
      expect(await fleet.program('disk-0', 'work')).toMatchObject({ exit: 0 });
      await expectWhole(fleet);
    },
    120_000,
  );

  // Promise, Nothing overspent: Lost, repeated or wrong queue jobs, and an absence of database and store, change no file
  it('need no queue: lost and wrong jobs change nothing', async () => {
    const fleet = await fleetOf({ delayMs: 20 });
    const ended = ends(fleet);
    await fleet.called(({ number }) => number === 3);
    // Some jobs are lost, some name a slice that is none.
    await database.query(`delete from asset_export_queue.job where id like '%1';
      update asset_export_queue.job set data = '{"dir":"elsewhere","slice":99}' where id like '%2'`);
    for (const { exit, stderr } of await ended) expect(exit, stderr).toBe(0);
    expect(fleet.service.counts().calls).toBe(calls);
    await expectWhole(fleet);
  }, 120_000);

  // Promise, Nothing overspent: Queue workers, even killed, send what the day allows
  it('send exactly what the budget of a day allows, two of them killed, and the jobs wait for 00:00 UTC', async () => {
    const short: number[] = [];
    // Three slices of six, or ten of 15: the two that die hold one each at most, so one of a worker that lives waits.
    const allowed = runsAll ? 40 : 12;
    const fleet = await fleetOf({
      delayMs: 30,
      at: async (point, { number }) => {
        if (point === 'received' && (await booked()) < number * 160) short.push(number);
      },
    });
    const budget = ['--credits-per-day', String(allowed * 160)];
    const [first, second, ...living] = (runsAll ? [0, 1, 2, 3] : [0, 1, 2]).map((n) =>
      fleet.start(`disk-${n}`, ...budget),
    );
    for (const [n, worker] of [first, second].entries()) {
      await fleet.called(({ number }) => number >= allowed / 4 + 4 * n);
      if (worker !== undefined) await fleet.lose(`disk-${n}`, worker);
    }
    for (const { ended } of living) expect(await ended).toMatchObject({ exit: 8 });
    expect(short).toEqual([]);
    expect(await booked()).toBe(allowed * 160);
    expect(fleet.service.counts().calls).toBeLessThanOrEqual(allowed);
    expect(fleet.service.counts().calls).toBeGreaterThanOrEqual(allowed - 4);
    expect(await jobs()).toContain('delayed|');
    const delayed = await database.query(`select row_to_json(j) from asset_export_queue.job j where state = 'delayed'`);
    expect(delayed).toContain(String(nextUtcMidnight(Date.now())).slice(0, 10));
    // The logs say what is not done.
    await database.query(`delete from asset_export_queue.job`);
    expect(await fleet.program('disk-2', 'work', '--credits-per-day', String(1000 * 160))).toMatchObject({ exit: 0 });
    await expectWhole(fleet);
  }, 120_000);

  it('wait for a database and a store that are gone for a time, and none of them dies', async () => {
    const most = (calls + 6) * 160;
    const flags = { 'credits-per-day': String(most), 'dead-after-seconds': '30' };
    const fleet = await fleetOf({ delayMs: 20 }, flags);
    const ended = ends(fleet);
    await fleet.called(({ number }) => number === 10);
    store.server?.goAway(true);
    await database.crash();
    await delay(1500);
    await database.restart();
    store.server?.goAway(false);
    for (const { exit, stderr } of await ended) expect(exit, stderr).toBe(0);
    expect(fleet.service.counts().calls).toBe(calls);
    // Six calls may have been booked whose bookings were not confirmed.
    expect(await booked()).toBeGreaterThanOrEqual(calls * 160);
    expect(await booked()).toBeLessThanOrEqual(most);
    await expectWhole(fleet);
  }, 120_000);

  it.runIf(runsAll)(
    'need the package bullmq, and print the line that installs it',
    async () => {
      const { folder, job, address, on } = await fleetOf();
      const resolve = `export const resolve = (name, context, next) => name === 'bullmq'
      ? Promise.reject(Object.assign(new Error("Cannot find package 'bullmq'"), { code: 'ERR_MODULE_NOT_FOUND' })) : next(name, context);`;
      writeFileSync(
        join(folder, 'without.mjs'),
        `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(resolve)}`)});`,
      );
      const without = on('one', { NODE_OPTIONS: '--import ./without.mjs' });
      for (const command of ['enqueue', 'work']) {
        expect(await runProgram([command, ...job(address)], without)).toMatchObject({
          exit: 2,
          stderr: expect.stringMatching(
            /needs the packages bullmq and pg, which are not installed[^]*npm ci/,
          ) as string,
        });
      }
      // With --shard no queue is used.
      expect(await runProgram(['work', ...job(address), '--shard', '0/1'], without)).toMatchObject({ exit: 0 });
    },
    120_000,
  );
});
