import { describe, expect, it } from 'vitest';
import { ExportError } from '../../../src/lib/export-error.ts';
import type { HeldSlice } from '../../../src/core/run/homes/export-home.ts';
import { ExportIsComplete } from '../../../src/core/run/homes/home-start.ts';
import { fromQueue } from '../../../src/wings/fleet/queued-export.ts';
import type { FleetSlices } from '../../../src/wings/fleet/fleet-slices.ts';
import type { SliceJob, SliceQueue } from '../../../src/wings/fleet/queue/slice-queue.ts';

const { signal } = new AbortController();
const noon = Date.UTC(2026, 2, 14, 12);
const midnight = Date.UTC(2026, 2, 15);

/** Slices of which some are done, a queue with these jobs, and what became of them. */
function worker(jobs: number[], { done = [] as number[], held = [] as number[], rest = [] as number[] } = {}) {
  const told: string[] = [];
  const warned: string[] = [];
  const name = (slice: number) => ({ slice }) as unknown as HeldSlice;
  const slices = {
    all: [0, 1, 2, 3] as unknown as FleetSlices['all'],
    log: (slice: number) => ({ refresh: () => Promise.resolve({ isDone: done.includes(slice) }) }),
    tryClaim: (slice: number) => Promise.resolve(held.includes(slice) ? undefined : name(slice)),
  } as unknown as FleetSlices;
  const queue: SliceQueue = {
    add: () => Promise.resolve(),
    take: () => {
      const slice = jobs.shift();
      const job: SliceJob | undefined =
        slice === undefined
          ? undefined
          : {
              slice,
              finish: async () => void told.push(`${slice} finished`),
              giveBack: async (notBeforeMs) => void told.push(`${slice} given back ${notBeforeMs ?? 'at once'}`),
            };
      return Promise.resolve(job);
    },
    clear: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const left = { next: () => Promise.resolve(rest.length === 0 ? undefined : name(rest.shift() ?? 0)) };
  const from = (other: Partial<SliceQueue> = {}, tryClaim = slices.tryClaim.bind(slices)) =>
    fromQueue(
      { ...queue, ...other },
      { all: slices.all, log: slices.log.bind(slices), tryClaim },
      { rest: left, tell: (message) => void warned.push(message) },
    );
  const all = async (source: ReturnType<typeof from>): Promise<unknown[]> => {
    const taken: unknown[] = [];
    for (let next = await source.next(signal); next !== undefined; next = await source.next(signal)) {
      taken.push((next as unknown as { slice: number }).slice);
    }
    return taken;
  };
  return { told, warned, from, all };
}

describe('slices from a queue', () => {
  it('are those that are free, whatever the jobs say, and then the rest', async () => {
    const { told, from, all } = worker([2, 9, -1, 0.5, 0, 1, 2], { done: [0], held: [1], rest: [3] });
    expect(await all(from())).toEqual([2, 2, 3]);
    expect(told).toEqual([2, 9, -1, 0.5, 0, 1, 2].map((slice) => `${slice} finished`));
  });

  it('are given back by who stops: at once, and at 00:00 UTC when credits are spent', async () => {
    const clock = { now: () => noon };
    const stopped = worker([1]);
    const one = stopped.from();
    await one.next(signal);
    await one.end(new ExportError('interrupted', 'stopped'), clock);
    await one.end(undefined, clock);
    expect(stopped.told).toEqual(['1 given back at once']);
    const spent = worker([1]);
    const other = spent.from();
    await other.next(signal);
    await other.end(new ExportError('spent', 'spent'), clock);
    expect(spent.told).toEqual([`1 given back ${midnight}`]);
  });

  it('are found without a queue that fails, which is told once', async () => {
    const { warned, from, all } = worker([], { rest: [3, 0] });
    const failing = from({ take: () => Promise.reject(new ExportError('unavailable', 'gone')) });
    expect(await all(failing)).toEqual([3, 0]);
    expect(warned).toEqual(['gone; meanwhile slices are taken without it']);
  });

  it('end when another worker completed the export', async () => {
    const { from } = worker([1]);
    const source = from({}, () => Promise.reject(new ExportIsComplete()));
    expect(await source.next(signal)).toBeUndefined();
  });
});
