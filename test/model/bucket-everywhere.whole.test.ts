import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callKey } from '../../src/core/client/wire/call-body.ts';
import type { AssetCall } from '../../src/core/client/asset-client.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { everywhere, type Verdict } from './support/everywhere.ts';
import { failingAt } from './support/failing-weather.ts';
import { killedInBucket } from './support/killed-in-bucket.ts';
import type { Operation } from './support/memory-disk.ts';
import { SmallBucket } from './support/small-bucket.ts';
import { goodAnswer, SmallExport, writeSmallIds } from './support/small-export.ts';
import { recordOperations, type Undisturbed, undisturbedRun, wrongFiles } from './support/undisturbed.ts';

let folder: Awaited<ReturnType<typeof keptFolder>>;
let idsPath: string;
/** The files of the same export in a folder. */
let calm: Undisturbed;
/** Operations of the disk and of the bucket, of a run that nothing disturbs. */
let operations: readonly Operation[] = [];
let calls = 0;

beforeAll(async () => {
  folder = await keptFolder();
  idsPath = writeSmallIds(folder.path);
  calm = await undisturbedRun(new SmallExport(idsPath));
  const small = new SmallBucket(idsPath);
  operations = recordOperations(small);
  const outcome = await small.run();
  expect(outcome?.state).toBe('complete');
  calls = outcome?.account.calls ?? 0;
  expect(wrongFiles(small, calm)).toEqual([]);
  expect([...small.published().keys()].sort()).toEqual([...calm.files.keys()].sort());
  expect([...small.bucket.objects.keys()].filter((name) => name.startsWith('.run/'))).toEqual([]);
  expect([...small.disk.tree.all().keys()]).toEqual([]);
});

afterAll(() => folder.remove());

const killedAt = (n: number, losesDisk: boolean): Promise<Verdict> =>
  killedInBucket(n, { open: (bucket) => new SmallBucket(idsPath, bucket), calm, losesDisk });

describe('an export in a bucket that is killed at any operation of the disk or the bucket', () => {
  it('is resumed on the same disk to the bytes of a folder, and pays for no kept answer again', async () => {
    expect(operations.length).toBeGreaterThan(150);
    await everywhere(operations, (n) => killedAt(n, false));
  }, 120_000);

  it('is resumed on another disk to the same bytes', async () => {
    await everywhere(
      operations,
      (n) => killedAt(n, true),
      ({ kind }) => kind === 'store',
    );
  }, 120_000);
});

describe('an export in a bucket', () => {
  it('that is told to stop leaves its answers in the bucket, and another disk asks for none of them again', async () => {
    for (let last = 1; last < calls; last += 1) {
      const small = new SmallBucket(idsPath);
      const stop = new AbortController();
      let sent = 0;
      const openWire = () => ({
        ask: async (call: AssetCall) => {
          const key = callKey(call);
          small.asked.set(key, (small.asked.get(key) ?? 0) + 1);
          sent += 1;
          if (sent === last) stop.abort(new Error('told to stop'));
          return goodAnswer(call);
        },
        close: () => Promise.resolve(),
      });
      await small.run({ context: { stop: stop.signal, openWire } }).catch((error: unknown) => {
        expect(error).toMatchObject({ message: 'told to stop' });
      });
      const elsewhere = new SmallBucket(idsPath, small.bucket);
      const clock = createFakeClock(0);
      const outcome = await clock.runUntil(elsewhere.run({ context: { clock } }), 'wait');
      expect(outcome?.state).toBe('complete');
      // No process had to be waited for: the slice was released.
      expect(clock.now()).toBeLessThan(20_000);
      expect([...elsewhere.asked.keys()].filter((key) => small.asked.has(key))).toEqual([]);
      expect(wrongFiles(elsewhere, calm)).toEqual([]);
      expect(outcome?.account.calls).toBe(calls);
    }
  });

  it('that another process works on is left to it', async () => {
    const clock = createFakeClock(1);
    const first = new SmallBucket(idsPath);
    const second = new SmallBucket(idsPath, first.bucket);
    const [one, two] = await clock.runUntil(
      Promise.all([first.run({ context: { clock } }), second.run({ context: { clock } })]),
      'wait',
    );
    expect([one?.error?.exit ?? one?.state, two?.error?.exit ?? two?.state].sort()).toEqual(['complete', 'locked']);
    expect((one?.error ?? two?.error)?.todo).toMatch(/^Wait for it to end \(asset-export status s3:/);
    expect(wrongFiles(first, calm)).toEqual([]);
  });

  it('that is complete is told so, and nothing is written', async () => {
    const small = new SmallBucket(idsPath);
    await small.run();
    const before = new Map(small.bucket.objects);
    expect(await new SmallBucket(idsPath, small.bucket).run()).toMatchObject({ state: 'already' });
    expect(small.bucket.objects).toEqual(before);
  });

  it('is thrown away and made anew with fresh', async () => {
    const small = new SmallBucket(idsPath);
    await small.run({ rowsPerPart: 5 });
    expect(small.published().size).toBeGreaterThan(calm.files.size);
    expect(await small.run({ fresh: true })).toMatchObject({ state: 'complete' });
    expect([...small.published().keys()].sort()).toEqual([...calm.files.keys()].sort());
    expect(wrongFiles(small, calm)).toEqual([]);
  });

  it('is refused where other objects are, with another job, and with slices of another size', async () => {
    const small = new SmallBucket(idsPath);
    await small.bucket.open().putNew('holiday.jpg', { bytes: Buffer.of(1) });
    await expect(small.run()).rejects.toMatchObject({ exit: 'usage' });
    const begun = new SmallBucket(idsPath);
    begun.disk.weather = failingAt(operations.length - 60, () => ({ kind: 'dies' }));
    await begun.run();
    begun.disk.restart();
    await expect(begun.run({ rowsPerPart: 12 })).rejects.toMatchObject({
      exit: 'usage',
      facts: { changed: 'output.rowsPerPart' },
    });
    await expect(begun.run({ flags: { 'entries-per-slice': '30' } })).rejects.toMatchObject({ exit: 'usage' });
    expect(await begun.run()).toMatchObject({ state: 'complete' });
  });

  it('with a committed file that changed makes its part again', async () => {
    const small = new SmallBucket(idsPath);
    small.disk.weather = failingAt(operations.length - 60, () => ({ kind: 'dies' }));
    await small.run();
    small.disk.restart();
    const committed = [...small.bucket.objects.keys()].find((name) => name.startsWith('csv/')) ?? '';
    await small.bucket.open().put(committed, { bytes: Buffer.of(1) });
    expect(await small.run()).toMatchObject({ state: 'complete' });
    expect(small.bucket.objects.get(committed)?.bytes.length).toBeGreaterThan(1);
  });
});
