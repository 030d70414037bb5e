import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AttemptError } from '../../../../src/core/client/asset-client.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { SeededRandom } from '../../../../packages/practice-service/src/generated/seeded-random.ts';
import { sampled } from '../../../model/support/sample.ts';
import { keptFolder } from '../../../support/temp-folder.ts';
import { RandomExport, randomShape } from './random-export.ts';

let folder: Awaited<ReturnType<typeof keptFolder>>;
/** The export `long` by one thread. */
let calm: RandomExport;

beforeAll(async () => {
  folder = await keptFolder();
  calm = new RandomExport(folder.path, long);
  await calm.run({ threads: 1 });
});

afterAll(() => folder.remove());

const shapes = 25;
const seeds = sampled(Array.from({ length: shapes }, (_, seed) => seed));
const histories = sampled(Array.from({ length: 60 }, (_, history) => history));

/** Long enough for threads, cut where parts and calls meet nowhere. */
const long = { seed: 900, entries: 400, idsPerCall: 3, rowsPerPart: 25, maxIds: 1000, poisoned: 0 };

async function calmExport(seed: number): Promise<RandomExport> {
  const made = new RandomExport(folder.path, { ...randomShape(seed), seed });
  expect((await made.run({ threads: 1 }))?.state).toBe('complete');
  expect(made.started).toBe(0);
  return made;
}

describe('an export with threads', () => {
  it('is the same bytes for any number of them, in exactly as many calls', async () => {
    let threadsStarted = 0;
    for (const seed of seeds) {
      const alone = await calmExport(seed);
      for (const threads of sampled([2, 3], 2)) {
        const made = new RandomExport(folder.path, randomShape(seed));
        const outcome = await made.run({ threads });
        threadsStarted += made.started;
        expect(outcome).toMatchObject({ state: 'complete' });
        expect(made.published(), `seed ${seed}, ${threads} threads`).toEqual(alone.published());
        // Which size is learnt first, and so which calls are split, is a matter of order.
        if (randomShape(seed).maxIds === 1000) expect(made.askedFirst()).toEqual(alone.askedFirst());
        expect(made.disk.openFiles).toBe(0);
      }
    }
    expect(threadsStarted).toBeGreaterThan(0);
  });

  // Promise, Nothing lost: Bytes and calls do not depend on `--threads`, even with a faulty service (sampled)
  it('is the same bytes on a bad day of the service', async () => {
    for (const seed of seeds) {
      const alone = await calmExport(seed);
      const made = new RandomExport(folder.path, randomShape(seed));
      expect(await made.run({ threads: 2, faultPercent: 15 })).toMatchObject({ state: 'complete' });
      expect(made.published(), `seed ${seed}`).toEqual(alone.published());
    }
  });

  it('starts none for one stretch, nor more than it may, nor any when told to use one', async () => {
    const started = async (entries: number, threads: number): Promise<number> => {
      const made = new RandomExport(folder.path, { ...long, entries });
      await made.run({ threads });
      return made.started;
    };
    expect(await started(40, 4)).toBe(0);
    expect(await started(400, 1)).toBe(0);
    expect(await started(400, 2)).toBe(2);
    expect(await started(400, 3)).toBe(3);
    // No more than calls at once.
    expect(await started(2000, 16)).toBe(4);
  });

  it('goes on with those there are when no more can be started, and fails when there is none', async () => {
    for (const given of sampled([1, 2], 2)) {
      const made = new RandomExport(folder.path, long);
      expect(await made.run({ threads: 4, given })).toMatchObject({ state: 'complete' });
      expect(made.started).toBe(given);
      expect(made.calls()).toBe(calm.calls());
      expect(made.published()).toEqual(calm.published());
    }
    const made = new RandomExport(folder.path, long);
    await expect(made.run({ threads: 4, given: 0 })).rejects.toThrow('no thread more');
    expect(made.calls()).toBe(0);
    expect(made.disk.openFiles).toBe(0);
  });

  // Promise, Nothing overspent: Threads share one budget: exactly its calls are sent
  it('spends exactly its budget, stops, and goes on from there', async () => {
    for (const allowed of sampled([1, 17, 60, calm.calls() - 1], 2)) {
      const made = new RandomExport(folder.path, long);
      const flags = { 'credits-per-run': String(160 * allowed + 159) };
      const spent = await made.run({ threads: 3, flags }).catch((error: unknown) => error);
      expect(spent).toMatchObject({ state: 'unfinished', callsOfRun: allowed, error: { exit: 'spent' } });
      expect(made.calls()).toBe(allowed);
      expect(await made.run({ threads: 2 })).toMatchObject({ state: 'complete' });
      expect(made.calls()).toBe(calm.calls());
      expect(made.published()).toEqual(calm.published());
    }
  });

  it('says why it ended as one thread does', async () => {
    for (const threads of [1, 3]) {
      const made = new RandomExport(folder.path, long);
      made.onAsk = () => {
        throw new AttemptError('transport', 'connection reset');
      };
      const outcome = await made.run({ threads, flags: { retries: '2' } });
      expect(outcome?.state).toBe('unfinished');
      expect(outcome?.error?.message).toMatch(
        /^The service is down: it has not answered since .* 3 attempts in a row failed; last error: connection reset\.$/,
      );
    }
  });

  it('spends a budget that is just enough to the last credit', async () => {
    const made = new RandomExport(folder.path, long);
    const flags = { 'credits-per-run': String(160 * calm.calls()) };
    expect(await made.run({ threads: 3, flags })).toMatchObject({ state: 'complete' });
    expect(made.published()).toEqual(calm.published());
  });

  it('killed at any operation of the disk ends with the same bytes, and pays for no kept answer again', async () => {
    for (const history of histories) {
      const random = new SeededRandom([history, 8, 8, 8]);
      const alone = await calmExport(history % shapes);
      const made = new RandomExport(folder.path, randomShape(history % shapes));
      for (let kills = 1 + random.below(3); kills > 0; kills -= 1) {
        const at = random.below(700);
        let operation = 0;
        made.disk.weather = () =>
          (operation += 1) > at ? { kind: 'dies', writtenShare: random.below(100) / 100 } : { kind: 'happens' };
        const kept = made.keptAnswers();
        const before = new Map(made.asked);
        await made.run({ threads: 1 + random.below(3), faultPercent: random.pick([0, 10]) });
        const again = [...made.asked].filter(([key, times]) => kept.has(key) && times > (before.get(key) ?? 0));
        expect(again, `history ${history}`).toEqual([]);
        made.disk.restart();
      }
      made.disk.weather = () => ({ kind: 'happens' });
      const kept = made.keptAnswers();
      const before = new Map(made.asked);
      expect(['complete', 'already']).toContain((await made.run({ threads: 2 }))?.state);
      const again = [...made.asked].filter(([key, times]) => kept.has(key) && times > (before.get(key) ?? 0));
      expect(again, `history ${history}`).toEqual([]);
      expect(made.published(), `history ${history}`).toEqual(alone.published());
      expect(made.disk.openFiles).toBe(0);
    }
  }, 120_000);

  it('stopped by a signal keeps what is in flight, and goes on from there', async () => {
    for (const after of sampled([1, 5, 30, 77, calm.calls() - 8], 3)) {
      const made = new RandomExport(folder.path, long);
      const stop = new AbortController();
      let asked = 0;
      made.onAsk = () => {
        asked += 1;
        if (asked === after) stop.abort(new ExportError('interrupted', 'stopped by SIGINT'));
      };
      const outcome = await made.run({ threads: 2, context: { stop: stop.signal } });
      expect(outcome).toMatchObject({ state: 'unfinished', error: { exit: 'interrupted' } });
      // Four calls at once; one of them told the signal.
      expect(made.calls()).toBeLessThan(after + 4);
      expect(made.disk.openFiles).toBe(0);
      expect(await made.run({ threads: 3 })).toMatchObject({ state: 'complete' });
      expect(made.calls()).toBe(calm.calls());
      expect(made.published()).toEqual(calm.published());
    }
  });

  it.each([
    ['a full disk', 'ENOSPC', 'write'],
    ['a broken disk', 'EIO', 'sync'],
  ] as const)('meets %s in a thread, says so, and loses nothing', async (_name, code, kind) => {
    for (const at of sampled([5, 40, 120], 3)) {
      const made = new RandomExport(folder.path, long);
      let seen = 0;
      made.disk.weather = (operation) => {
        if (operation.kind === kind) seen += 1;
        return operation.kind === kind && seen >= at ? { kind: 'fails', code } : { kind: 'happens' };
      };
      const outcome = await made.run({ threads: 2 }).catch((error: unknown) => ({ error }));
      expect(outcome).toMatchObject({ error: { exit: 'cannotWrite' } });
      made.disk.weather = () => ({ kind: 'happens' });
      expect(await made.run({ threads: 2 })).toMatchObject({ state: 'complete' });
      expect(made.published()).toEqual(calm.published());
    }
  });

  // Promise, Nothing lost: A dead thread ends the run; nothing hangs or is lost
  it.each(['throws', 'ends without a word'])('ends when one of them %s, and loses nothing', async (how) => {
    const made = new RandomExport(folder.path, long);
    let ask = (): void => undefined;
    const died = new Promise<void>((resolve, reject) => {
      ask = () => {
        if (made.calls() < 20) return;
        if (how === 'throws') reject(new Error('out of memory'));
        else resolve();
      };
    });
    made.onAsk = () => {
      ask();
    };
    const failure: unknown = await made
      .run({ threads: 2, onStart: (thread) => ({ ...thread, gone: Promise.race([thread.gone, died]) }) })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      message:
        how === 'throws' ? 'out of memory' : (expect.stringContaining('ended before its work was done') as string),
    });
    made.onAsk = () => undefined;
    expect(await made.run({ threads: 2 })).toMatchObject({ state: 'complete' });
    expect(made.published()).toEqual(calm.published());
  });
});
