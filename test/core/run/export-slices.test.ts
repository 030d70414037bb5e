import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/core/job/job-schema.ts';
import type { HeldSlice, OpenExport } from '../../../src/core/run/homes/export-home.ts';
import { exportSlices } from '../../../src/core/run/export-slices.ts';
import { noCounts, noNotes } from '../../../src/places/export/export-facts.ts';
import type { ExportContext } from '../../../src/core/run/export-context.ts';
import type { MadePart } from '../../../src/core/work/make-parts.ts';

const tally = { total: () => 0, add: () => Promise.resolve() };

function part(n: number): MadePart {
  return { part: { part: n, counts: noCounts, files: [], drift: [], notes: noNotes }, cap: undefined };
}

/** Exports one slice of three parts. `events`: what was made and committed, in order. */
function exportThree({ commit, make }: { commit: (n: number) => Promise<'committed' | 'lost'>; make?: () => void }) {
  const events: string[] = [];
  const slice = {
    calls: tally,
    credits: tally,
    isNeeded: () => true,
    end: () => Promise.resolve(),
    commit: async ({ part: n }: { part: number }) => {
      const done = await commit(n);
      events.push(`committed ${n}`);
      return done;
    },
  } as unknown as HeldSlice;
  const waiting = [slice];
  const done = exportSlices(
    {
      job: { budget: {} } as Job,
      inputs: { fingerprints: [], inputBytes: 0, columns: [] },
      open: {
        start: { job: {} },
        commits: () => [],
        answers: 0,
        slices: { next: async () => waiting.pop() },
      } as unknown as OpenExport,
      progress: { entries: 0, inputBytes: 0 } as never,
      whenLost: 'end',
      async *make() {
        for (let n = 0; n < 3; n += 1) {
          if (n > 0) make?.();
          events.push(`made ${n}`);
          yield part(n);
        }
      },
    },
    { calls: 0, credits: 0 },
    { listener: () => undefined, stop: new AbortController().signal } as unknown as ExportContext,
  );
  return { done, events };
}

const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('parts of a slice', () => {
  it('are made one ahead of the one that is committed, and committed in order', async () => {
    const finish: (() => void)[] = [];
    const { done, events } = exportThree({
      commit: (n) =>
        new Promise((resolve) => {
          finish[n] = () => {
            resolve('committed');
          };
        }),
    });
    await idle();
    expect(events).toEqual(['made 0', 'made 1']);
    finish[0]?.();
    await idle();
    expect(events).toEqual(['made 0', 'made 1', 'committed 0', 'made 2']);
    finish[1]?.();
    await idle();
    finish[2]?.();
    await done;
    expect(events).toEqual(['made 0', 'made 1', 'committed 0', 'made 2', 'committed 1', 'committed 2']);
  });

  it('are not made any more after a commit that failed, which is the cause that is told', async () => {
    const { done, events } = exportThree({
      commit: (n) => (n === 0 ? Promise.reject(new Error('the store is gone')) : Promise.resolve('committed')),
    });
    await expect(done).rejects.toThrow('the store is gone');
    expect(events).toEqual(['made 0', 'made 1']);
  });

  it('are committed when they are whole, although the next one cannot be made', async () => {
    const { done, events } = exportThree({
      commit: async () => {
        await idle();
        return 'committed';
      },
      make: () => {
        throw new Error('credits are spent');
      },
    });
    await expect(done).rejects.toThrow('credits are spent');
    expect(events).toEqual(['made 0', 'committed 0']);
  });
});
