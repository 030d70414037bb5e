import { appendFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStart, startBody } from '../../src/core/run/homes/home-start.ts';
import { parseRunLines } from '../../src/core/run/history/run-lines.ts';
import { lastRunOf } from '../../src/core/run/history/run-history.ts';
import type { RunEnd } from '../../src/core/work/run-observer.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { everywhere, type Verdict } from './support/everywhere.ts';
import { failingAt } from './support/failing-weather.ts';
import { killedInBucket } from './support/killed-in-bucket.ts';
import type { Operation } from './support/memory-disk.ts';
import { sample } from './support/sample.ts';
import { SmallExport, writeSmallIds } from './support/small-export.ts';
import { SmallFleet, steps } from './support/small-fleet.ts';
import { recordOperations, type Undisturbed, undisturbedRun, wrongFiles } from './support/undisturbed.ts';

let folder: Awaited<ReturnType<typeof keptFolder>>;
let idsPath: string;
/** The files of the same export in a folder. */
let calm: Undisturbed;
/** Operations of the disk and of the bucket, of an enqueue and a worker that nothing disturbs. */
let operations: readonly Operation[] = [];

beforeAll(async () => {
  folder = await keptFolder();
  idsPath = writeSmallIds(folder.path);
  calm = await undisturbedRun(new SmallExport(idsPath));
  const small = new SmallFleet(idsPath);
  operations = recordOperations(small);
  expect(await small.run()).toMatchObject({ state: 'complete' });
  expect(wrongFiles(small, calm)).toEqual([]);
  expect([...small.published().keys()].sort()).toEqual([...calm.files.keys()].sort());
  expect([...small.bucket.objects.keys()].filter((name) => name.startsWith('.run/'))).toEqual([]);
});

afterAll(() => folder.remove());

const killedAt = (n: number, losesDisk: boolean): Promise<Verdict> =>
  killedInBucket(n, { open: (bucket) => new SmallFleet(idsPath, bucket), calm, losesDisk });

describe('enqueue and a worker that are killed at any operation of the disk or the bucket', () => {
  it('are resumed on the same disk to the bytes of a folder, and pay for no kept answer again', async () => {
    expect(operations.length).toBeGreaterThan(200);
    await everywhere(operations, (n) => killedAt(n, false));
  }, 120_000);

  it('are resumed on another disk to the same bytes', async () => {
    await everywhere(
      operations,
      (n) => killedAt(n, true),
      ({ kind }) => kind === 'store',
    );
  }, 120_000);
});

describe('enqueue', () => {
  it('ends with exit 2 before it writes where duplicates would take too much memory', async () => {
    const small = new SmallFleet(idsPath);
    const few = small.run({ make: steps.enqueue({ memoryLimit: 100 }) });
    await expect(few).rejects.toMatchObject({
      exit: 'usage',
      message: expect.stringMatching(
        /^enqueue needs about .* among \d+ ids, and may use 80 B: 80 % of 100 B$/,
      ) as string,
    });
    expect([...small.bucket.objects.keys()]).toEqual([]);
    await small.enqueue();
    const before = new Map(small.bucket.objects);
    const fresh = steps.enqueue({ memoryLimit: 100, fresh: true });
    await expect(small.run({ make: fresh })).rejects.toMatchObject({ exit: 'usage' });
    expect(small.bucket.objects).toEqual(before);
  });

  it('leaves a complete export alone though a start that cannot be read lies there', async () => {
    const small = new SmallFleet(idsPath);
    await small.enqueue();
    const { bytes } = small.bucket.objects.get('.run/start.json') ?? { bytes: Buffer.of() };
    const unreadable = { bytes: Buffer.from('{}') };
    await small.bucket.open().put('.run/start.json', unreadable);
    await expect(small.enqueue()).rejects.toMatchObject({
      exit: 'damaged',
      message: 's3://bucket/small/.run/start.json is damaged: it was changed',
    });
    await small.bucket.open().put('.run/start.json', { bytes });
    expect(await small.run({ make: steps.work() })).toMatchObject({ state: 'complete' });
    await small.bucket.open().put('.run/start.json', unreadable);
    expect(await small.enqueue()).toBe(0);
  });

  it('puts what is missing or changed, and nothing else', async () => {
    const small = new SmallFleet(idsPath);
    await small.enqueue();
    const before = new Map(small.bucket.objects);
    expect(await small.enqueue()).toBe(0);
    expect(small.bucket.objects).toEqual(before);
    small.bucket.objects.delete('.run/slices/00001.csv.gz');
    await small.bucket.open().put('.run/slices/00000.csv.gz', { bytes: Buffer.of(1) });
    expect(await small.run({ make: steps.work() })).toMatchObject({
      state: 'unfinished',
      error: { exit: 'damaged', todo: expect.stringContaining('Run asset-export enqueue') as string },
    });
    expect(await small.enqueue()).toBe(2);
    expect(slicesOf(small)).toEqual(slicesOf({ bucket: { objects: before } }));
    expect(await small.run({ make: steps.work() })).toMatchObject({ state: 'complete' });
    expect(await small.enqueue()).toBe(0);
  });

  it('refuses a start that names other slices of the same ids', async () => {
    const small = new SmallFleet(idsPath);
    await small.enqueue();
    const store = small.bucket.open();
    const start = await readStart({ store, address: 's3://bucket/small' });
    if (start?.slices === undefined) throw new Error('it was enqueued');
    await store.put('.run/start.json', startBody({ ...start, slices: start.slices.toReversed() }));
    await expect(small.enqueue()).rejects.toMatchObject({
      exit: 'damaged',
      message: 's3://bucket/small/.run/start.json names other slices of the same ids',
    });
  });

  it('adds slices to an export that a run began, and a run takes an export that was enqueued', async () => {
    const small = new SmallFleet(idsPath);
    small.disk.weather = failingAt(operations.length - 120, () => ({ kind: 'dies' }));
    await small.run({ make: undefined as never });
    small.disk.restart();
    await small.enqueue();
    expect(await small.run({ make: steps.work() })).toMatchObject({ state: 'complete' });
    expect(wrongFiles(small, calm)).toEqual([]);
    const other = new SmallFleet(idsPath);
    await other.enqueue();
    expect(await other.run({ make: undefined as never })).toMatchObject({ state: 'complete' });
    expect(wrongFiles(other, calm)).toEqual([]);
  });

  it('refuses other ids, another job, and a folder', async () => {
    const other = await keptFolder();
    const path = writeSmallIds(other.path);
    const small = new SmallFleet(path);
    await small.enqueue();
    await expect(small.enqueue({ rowsPerPart: 12 })).rejects.toMatchObject({ exit: 'usage' });
    appendFileSync(path, 'more\n');
    const before = new Map(small.bucket.objects);
    await expect(small.enqueue()).rejects.toMatchObject({ exit: 'input' });
    expect(small.bucket.objects).toEqual(before);
    await expect(small.enqueue({ flags: { out: '/folder' } })).rejects.toMatchObject({ exit: 'usage' });
    await other.remove();
  });
});

function slicesOf({ bucket }: { bucket: Pick<SmallFleet['bucket'], 'objects'> }): Map<string, string> {
  const slices = [...bucket.objects].filter(([name]) => name.startsWith('.run/slices/'));
  return new Map(slices.map(([name, { sha256 }]) => [name, sha256]));
}

describe('a worker', () => {
  it('is refused before enqueue, with a budget of one run, and with another job', async () => {
    const small = new SmallFleet(idsPath);
    const work = steps.work();
    await expect(small.run({ make: work })).rejects.toMatchObject({ exit: 'input' });
    await small.enqueue();
    const flags = { 'credits-per-run': '160' };
    await expect(small.run({ make: work, flags })).rejects.toMatchObject({ exit: 'usage' });
    await expect(small.run({ make: work, rowsPerPart: 12 })).rejects.toMatchObject({ exit: 'usage' });
  });

  it('shares the slices with others, each made once, and one of them completes the export', async () => {
    const first = new SmallFleet(idsPath);
    await first.enqueue();
    const clock = createFakeClock(0);
    const workers = [first, new SmallFleet(idsPath, first.bucket), new SmallFleet(idsPath, first.bucket)];
    const { ends, observe } = endsOf();
    const ended = workers.map((each, index) =>
      each.run({ make: steps.work({ index, count: 3 }), context: { clock, observe } }),
    );
    const outcomes = await clock.runUntil(Promise.all(ended), 'wait');
    expect(outcomes.map((outcome) => outcome?.state)).toEqual(['complete', 'complete', 'complete']);
    // One of them tells of it.
    expect(ends.filter(({ isElsewhere }) => isElsewhere !== true)).toMatchObject([{ state: 'complete', exit: 3 }]);
    expect(ends).toHaveLength(3);
    const calls = outcomes.map((outcome) => outcome?.callsOfRun ?? 0);
    expect(calls.filter((count) => count > 0).length).toBeGreaterThan(1);
    expect(calls.reduce((sum, count) => sum + count)).toBe(outcomes[0]?.account.calls);
    const asked = workers.flatMap((each) => [...each.asked.keys()]);
    expect(new Set(asked).size).toBe(asked.length);
    expect(wrongFiles(first, calm)).toEqual([]);
    expect([...first.published().keys()].sort()).toEqual([...calm.files.keys()].sort());
    const text = Buffer.from(first.bucket.objects.get('runs.jsonl')?.bytes ?? []).toString();
    expect(text.match(/"kind":"run"/g)?.length).toBeGreaterThan(1);
  });

  it('does not wait for others where it is told so', async () => {
    const first = new SmallFleet(idsPath);
    await first.enqueue();
    const clock = createFakeClock(0);
    const second = new SmallFleet(idsPath, first.bucket);
    const outcomes = await clock.runUntil(
      Promise.all([
        first.run({ make: steps.work(), context: { clock } }),
        second.run({ make: steps.work({ index: 1, count: 2, waits: false }), context: { clock } }),
      ]),
      'wait',
    );
    expect(outcomes[0]?.state).toBe('complete');
    expect(['locked', undefined]).toContain(outcomes[1]?.error?.exit);
    expect(wrongFiles(first, calm)).toEqual([]);
  });
});

/** A worker that is frozen at its nth operation of the bucket until another worker has completed the export. */
async function frozenAt(n: number) {
  const first = new SmallFleet(idsPath);
  await first.enqueue();
  let operations = 0;
  let struck = '';
  let frozen: Promise<unknown> | undefined;
  const store = first.bucket.open(
    async ({ kind, name }, when) => {
      if (when === 'after') return;
      if ((operations += 1) === n) {
        struck = `${kind} ${name}`;
        frozen = new SmallFleet(idsPath, first.bucket).run({ make: steps.work() });
      }
      // Its heartbeats stop, too.
      await frozen;
    },
    async (file) => (await first.disk.files.readAll(file)) ?? Buffer.of(),
  );
  const run = first.run({ make: steps.work(), context: { openStore: () => Promise.resolve(store) } });
  const end = await run.then(
    (outcome) => outcome?.error?.message ?? outcome?.state ?? 'no outcome',
    (error: unknown) => String(error),
  );
  await frozen;
  return { struck, end, files: wrongFiles(first, calm) };
}

describe('a worker that is frozen at any operation of the bucket until another completed the export', () => {
  // Promise, Nothing overspent: A worker frozen anywhere until the export is complete ends with 0, changing nothing (sampled)
  it('finds it complete, and changes nothing', async () => {
    const wrong: string[] = [];
    for (let n = 1 + (sample.offset % sample.step); ; n += sample.step) {
      const { struck, end, files } = await frozenAt(n);
      if (struck === '') break;
      if (!/^(complete|already)$/.test(end) || files.length > 0) wrong.push(`${n} ${struck}: ${end} ${files.join()}`);
    }
    expect(wrong).toEqual([]);
  });
});

/** Notes how runs end, as observers see it. */
function endsOf() {
  const ends: RunEnd[] = [];
  const end = async (how: RunEnd): Promise<void> => void ends.push(how);
  return { ends, observe: async () => ({ listener: () => undefined, end }) };
}

/** Has the worker die that completes the export, when all slices are done. */
function diesAtManifest({ bucket: { objects }, disk }: SmallFleet): void {
  const slices = [...objects.keys()].filter((name) => name.startsWith('.run/slices/')).length;
  const isDone = (): boolean =>
    [...objects.values()].filter(({ bytes }) => Buffer.from(bytes).includes('"kind":"done"')).length === slices;
  disk.weather = ({ path }) => ({ kind: path === 'manifest.json' && isDone() ? 'dies' : 'happens' });
}

describe('a worker that finds nothing left to make', () => {
  it('completes an export whose worker died at its end, and takes a complete one', async () => {
    const small = new SmallFleet(idsPath);
    await small.enqueue();
    diesAtManifest(small);
    expect(await small.run({ make: steps.work() })).toBeUndefined();
    const elsewhere = new SmallFleet(idsPath, small.bucket);
    const { ends, observe } = endsOf();
    expect(await elsewhere.run({ make: steps.work(), context: { observe } })).toMatchObject({ state: 'complete' });
    expect(ends).toMatchObject([{ state: 'complete', exit: 3, isElsewhere: false, account: { counts: { read: 34 } } }]);
    expect(elsewhere.asked.size).toBe(0);
    expect(wrongFiles(elsewhere, calm)).toEqual([]);
    expect(await elsewhere.run({ make: steps.work(), context: { observe } })).toMatchObject({ state: 'already' });
    expect(ends.slice(1)).toMatchObject([{ isElsewhere: true }]);
  });

  // Promise, Nothing overspent: Of workers that complete an export, one sends the notification
  it('and another one at the same time: one of them tells of the export', async () => {
    const small = new SmallFleet(idsPath);
    await small.enqueue();
    diesAtManifest(small);
    await small.run({ make: steps.work() });
    const { ends, observe } = endsOf();
    const both = [new SmallFleet(idsPath, small.bucket), new SmallFleet(idsPath, small.bucket)];
    const outcomes = await Promise.all(both.map((each) => each.run({ make: steps.work(), context: { observe } })));
    expect(outcomes).toMatchObject([{ state: 'complete' }, { state: 'complete' }]);
    expect(ends.map(({ isElsewhere }) => isElsewhere).sort()).toEqual([false, true]);
    expect(wrongFiles(small, calm)).toEqual([]);
  });

  it('writes its verdict where a worker that began later ended otherwise', async () => {
    const small = new SmallFleet(idsPath);
    await small.enqueue();
    const [firstMs, laterMs] = [Date.UTC(2026, 2, 14), Date.UTC(2026, 2, 15)];
    const flags = { 'credits-per-day': '160', 'when-spent': 'stop' };
    const spent = await new SmallFleet(idsPath, small.bucket).run({ make: steps.work(), flags, startMs: laterMs });
    expect(spent).toMatchObject({ state: 'unfinished', error: { exit: 'spent' } });
    await new SmallFleet(idsPath, small.bucket).run({ make: steps.work(), startMs: firstMs });
    const lines = parseRunLines(Buffer.from(small.bucket.objects.get('runs.jsonl')?.bytes ?? []).toString());
    expect(lastRunOf(lines)).toMatchObject({ start: { startMs: laterMs }, end: { state: 'complete', exit: 3 } });
  });

  it('refuses a file with other bytes', async () => {
    const small = new SmallFleet(idsPath);
    await small.enqueue();
    diesAtManifest(small);
    await small.run({ make: steps.work() });
    const name = [...small.bucket.objects.keys()].find((each) => each.startsWith('csv/')) ?? '';
    await small.bucket.open().put(name, { bytes: Buffer.of(1) });
    const elsewhere = new SmallFleet(idsPath, small.bucket);
    expect(await elsewhere.run({ make: steps.work() })).toMatchObject({
      state: 'unfinished',
      error: { exit: 'damaged' },
    });
  });
});
