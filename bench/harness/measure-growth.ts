import { readIn } from './measure-reading.ts';
import { type Place, runScenario } from './run-scenario.ts';
import { scenarioOf } from './scenarios.ts';
import type { Sizes } from './sizes.ts';

/** Peak memory in MiB, with few ids and with many. */
export interface Grown {
  readonly few: number;
  readonly many: number;
}

export interface Growth {
  /** Of a whole export, by scenario. */
  readonly peaks: ReadonlyMap<string, Grown>;
  /** Of these, what the removal of duplicates takes. */
  readonly dedupe: Grown;
}

/** What becomes of memory when there are many more ids. */
export async function measureGrowth(sizes: Sizes, place: Place, tell: (line: string) => void): Promise<Growth> {
  const { grown, grownFrom, grownTo } = sizes;
  const both = async (read: (count: number) => Promise<number>): Promise<Grown> => ({
    few: await read(grownFrom),
    many: await read(grownTo),
  });
  const peaks = new Map<string, Grown>();
  for (const name of grown) {
    tell(`${name}, ${grownTo.toLocaleString('en')} ids`);
    peaks.set(name, await both(async (count) => (await runScenario(scenarioOf(name), count, place)).peakMiB));
  }
  return { peaks, dedupe: await both((count) => dedupeMiB(count, place)) };
}

/** The peak of reading so many ids without duplicates, less that of reading them all. Few ids take less than two peaks differ. */
async function dedupeMiB(count: number, { idFile, folder }: Place): Promise<number> {
  const kept = await readIn('duplicates', idFile(count), folder);
  const all = await readIn('check', idFile(count), folder);
  return Math.max(0, kept.peakMiB - all.peakMiB);
}
