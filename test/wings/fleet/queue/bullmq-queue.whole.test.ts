import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/lib/clock.ts';
import { openSliceQueue, type QueueOptions } from '../../../../src/wings/fleet/queue/bullmq-queue.ts';
import type { SliceJob, SliceQueue } from '../../../../src/wings/fleet/queue/slice-queue.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { postgresOfTests } from '../../warehouse/postgres-of-tests.ts';

const server = await postgresOfTests('the queue of slices is not tested');
let exports = 0;

/** Opens queues of one export. */
function queueOf(): (options?: Partial<QueueOptions>) => Promise<SliceQueue> {
  const dir = `s3://bucket/${(exports += 1)}`;
  return async (options) => {
    const queue = await openSliceQueue(server.address, { dir, clock: systemClock, setUp: true, ...options });
    onTestFinished(() => queue.close());
    return queue;
  };
}

async function takeAll(queue: SliceQueue): Promise<SliceJob[]> {
  const jobs: SliceJob[] = [];
  for (let job = await queue.take(); job !== undefined; job = await queue.take()) jobs.push(job);
  return jobs;
}

const slicesOf = (jobs: readonly SliceJob[]): number[] => jobs.map(({ slice }) => slice);
const several = (count: number): number[] => Array.from({ length: count }, (_, slice) => slice);

describe.skipIf(server.isMissing)('the queue of slices', () => {
  it('gives each slice to one worker', async () => {
    const open = queueOf();
    const queues = await Promise.all([open(), open(), open()]);
    await queues[0].add(several(2500));
    const taken = (await Promise.all(queues.map(takeAll))).map(slicesOf);
    expect(taken.flat().sort((a, b) => a - b)).toEqual(several(2500));
    for (const each of taken) expect(each.length).toBeGreaterThan(0);
  });

  it('has one job a slice, however often it is added, and none of another export', async () => {
    const [queue, other] = [await queueOf()(), await queueOf()()];
    await queue.add([0, 1, 2]);
    const first = await queue.take();
    await queue.add([0, 1, 2]);
    expect(await other.take()).toBeUndefined();
    expect(slicesOf(await takeAll(queue))).toEqual([1, 2]);
    // What was finished may be added again.
    await first?.finish();
    await queue.add([0, 1, 2]);
    expect(slicesOf(await takeAll(queue))).toEqual([0]);
  });

  it('hands out what was given back, at once or when its time has come', async () => {
    const queue = await queueOf()();
    await queue.add([0, 1, 2]);
    const [first, second, third] = await takeAll(queue);
    await first?.giveBack();
    await third?.giveBack(Date.now() + 3_600_000);
    expect(slicesOf(await takeAll(queue))).toEqual([0]);
    await second?.giveBack(Date.now() + 400);
    await until(async () => {
      expect(slicesOf(await takeAll(queue))).toEqual([1]);
    });
  });

  it('hands out the job of a worker that died, and no job of one that lives', async () => {
    const [open, clock] = [queueOf(), createFakeClock()];
    const [living, dying, next] = [
      await open({ clock, lockMs: 120_000 }),
      await open({ lockMs: 400 }),
      await open({ lockMs: 400 }),
    ];
    await living.add([0, 1]);
    const kept = await living.take();
    const lockedUntilMs = async (): Promise<number> =>
      Number(await server.query('select max(locked_until_ms) from asset_export_queue.job'));
    // The living one outlives its first lock, on a clock that waits for it where the machine is busy.
    for (const _ of [1, 2, 3]) {
      await server.query('update asset_export_queue.job set locked_until_ms = locked_until_ms - 60000');
      const ageingMs = await lockedUntilMs();
      await until(async () => {
        expect(clock.sleepers()).toBe(1);
      });
      await clock.advance(30_000);
      await until(async () => {
        expect(await lockedUntilMs()).toBeGreaterThanOrEqual(ageingMs + 60_000);
      });
    }
    await dying.take();
    await dying.close();
    await until(async () => {
      expect(slicesOf(await takeAll(next))).toEqual([1 - (kept?.slice ?? 0)]);
    });
  });

  it('is empty once it is cleared, also of jobs that are worked on', async () => {
    const queue = await queueOf()();
    await queue.add([0, 1, 2]);
    const job = await queue.take();
    await queue.clear();
    expect(await queue.take()).toBeUndefined();
    await expect(job?.finish()).rejects.toMatchObject({ exit: 'unavailable' });
    await queue.clear();
  });

  it('is not made by a worker that finds none', async () => {
    await server.query('create database no_queue');
    const address = server.address.replace('/postgres?', '/no_queue?');
    const opened = openSliceQueue(address, { dir: 's3://bucket/x', clock: systemClock, setUp: false });
    await expect(opened).rejects.toMatchObject({ exit: 'unavailable' });
    expect(await server.query(`select count(*) from pg_namespace where nspname like 'asset_export%'`, 'no_queue')).toBe(
      '0\n',
    );
  });
});
