import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../packages/practice-service/src/generated/seeded-random.ts';
import { MemoryObjects } from '../support/memory-objects.ts';
import { runsAll } from '../support/lane.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { changesEach, everywhere, type Stop, stoppedAt } from './support/everywhere.ts';
import { killedInBucket } from './support/killed-in-bucket.ts';
import type { Operation } from './support/memory-disk.ts';
import { SmallBucket } from './support/small-bucket.ts';
import { SmallExport, type SmallRun, writeSmallIds } from './support/small-export.ts';
import { firstNight, secondNight, writeEarlierIds } from './support/small-nights.ts';
import { recordOperations, type Undisturbed, undisturbedRun, wrongFiles } from './support/undisturbed.ts';

const base = '/exports/base';
const bucketBase = 's3://bucket/base';
let folder: Awaited<ReturnType<typeof keptFolder>>;
let idsPath: string;
let first: SmallExport;
let firstInBucket: SmallBucket;
/** The second night in a folder that nothing disturbs. */
let calm: Undisturbed;

class SmallRefresh extends SmallExport {
  override run(run: SmallRun = {}): ReturnType<SmallExport['run']> {
    return super.run(secondNight(base, run));
  }
}

/** The same in a bucket, with its base in another one. */
class SmallBucketRefresh extends SmallBucket {
  constructor(bucket?: MemoryObjects) {
    super(idsPath, bucket, new Map([[bucketBase, firstInBucket.bucket]]));
  }

  override run(run: SmallRun = {}): ReturnType<SmallExport['run']> {
    return super.run(secondNight(bucketBase, run));
  }
}

const open = (): SmallExport => new SmallRefresh(idsPath, first.disk.copy());

beforeAll(async () => {
  folder = await keptFolder();
  idsPath = writeSmallIds(folder.path);
  const earlierIds = writeEarlierIds(folder.path);
  first = new SmallExport(earlierIds);
  await first.run(firstNight(base));
  calm = await undisturbedRun(open());
  firstInBucket = new SmallBucket(earlierIds);
  await firstInBucket.run(firstNight(bucketBase));
});

afterAll(() => folder.remove());

const stopped = (how: (n: number) => Pick<Stop, 'fate' | 'powerLoss'>, each: number): Promise<void> =>
  everywhere(calm.operations, (n) => stoppedAt(n, { open, calm, ...how(n) }), changesEach(each));

describe('an export with a base whose machine stops at any operation of the disk goes on to the same bytes, and pays for no kept answer again', () => {
  it('requests some ids and carries others', async () => {
    const outcome = await open().run();
    const { counts } = outcome?.account ?? {};
    expect(outcome?.state).toBe('complete');
    expect(counts?.carried).toBeGreaterThan(5);
    expect(counts?.exported).toBeGreaterThan(10);
    expect(counts?.missing).toBeGreaterThan(0);
    expect([...calm.files.keys()].filter((path) => path.includes('/changes/')).length).toBeGreaterThan(2);
  });

  it('when the program is killed', () => stopped(() => ({}), runsAll ? 1 : 3), 240_000);

  it(
    'when the power is lost, with any part of what was not synced',
    () =>
      stopped((n) => {
        const random = new SeededRandom([n, 1, 2, 3]);
        return { fate: { kind: 'dies', writtenShare: 0.5 }, powerLoss: () => random.chance(30) };
      }, 3),
    240_000,
  );
});

describe('an export with a base in a bucket', () => {
  let operations: readonly Operation[] = [];

  it('has the bytes of one in a folder, and leaves nothing of what it requested', async () => {
    const small = new SmallBucketRefresh();
    operations = recordOperations(small);
    expect(await small.run()).toMatchObject({ state: 'complete' });
    expect(wrongFiles(small, calm)).toEqual([]);
    expect([...small.published().keys()].sort()).toEqual([...calm.files.keys()].sort());
    expect([...small.bucket.objects.keys()].filter((name) => name.startsWith('.run/'))).toEqual([]);
    expect([...small.disk.tree.all().keys()]).toEqual([]);
  });

  const killed = (n: number, losesDisk: boolean) =>
    killedInBucket(n, { open: (bucket) => new SmallBucketRefresh(bucket), calm, losesDisk });

  it(
    'is resumed on the same disk after a kill at operations of disk and store, and pays for no kept answer again',
    () => everywhere(operations, (n) => killed(n, false), runsAll ? changesEach(3) : changesEach(9, 3)),
    240_000,
  );

  it(
    'is resumed on another disk',
    () =>
      everywhere(
        operations,
        (n) => killed(n, true),
        ({ kind }) => kind === 'store',
      ),
    240_000,
  );
});
