import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type IdFormat, writeIds } from '../load/ids.ts';
import { runMeasured } from './measured-child.ts';
import { readings } from './readings.ts';
import type { Sizes } from './sizes.ts';
import { median } from './statistics.ts';

export interface ReadIds {
  /** Microseconds of CPU time an id, by the name of the reading: medians. */
  readonly cpuUs: ReadonlyMap<string, number>;
  /** Peak memory of `plan` over `idsHeld` ids: it reads them, removes duplicates, and does little else. */
  readonly heldMiB: number;
  /** How many ids were told apart beyond the limit of a Set; 0 when that was not tried. */
  readonly beyondSet: number;
}

/** Reads ids in every way, each in a process of its own, in rounds. */
export async function measureReading(sizes: Sizes, folder: string): Promise<ReadIds> {
  const file = (format: IdFormat): string => join(folder, `ids.${format === 'lines' ? 'txt' : format}`);
  const measured = readings.filter(({ name }) => sizes.readings.includes(name));
  const taken = new Map<string, number[]>(measured.map(({ name }) => [name, []]));
  for (const format of ['lines', 'csv', 'json'] as const) writeIds(file(format), sizes.idsRead, format);
  for (let round = 0; round < sizes.rounds; round += 1) {
    for (const { name, way, format } of measured) {
      taken.get(name)?.push((await readIn(way, file(format), folder)).cpuUs);
    }
  }
  const planMany = (count: number): Promise<number> => {
    writeIds(file('lines'), count, 'lines');
    return planPeak(file('lines'), count, folder);
  };
  const heldMiB = await planMany(sizes.idsHeld);
  if (sizes.idsBeyondSet > 0) await planMany(sizes.idsBeyondSet);
  for (const format of ['lines', 'csv', 'json'] as const) rmSync(file(format));
  return {
    cpuUs: new Map(Array.from(taken, ([name, values]) => [name, median(values)])),
    heldMiB,
    beyondSet: sizes.idsBeyondSet,
  };
}

/** Reads a file in one way: what an id takes, and the peak memory of all. @throws when not every id was found valid. */
export async function readIn(way: string, file: string, folder: string): Promise<{ cpuUs: number; peakMiB: number }> {
  const { stdout, peakMiB } = await runMeasured({ program: 'read-ids.ts', args: [way, file] }, folder);
  const { ids, valid, cpuS } = JSON.parse(stdout) as { ids: number; valid: number; cpuS: number };
  if (valid !== ids) throw new Error(`${way} found ${valid} of ${ids} ids`);
  return { cpuUs: (cpuS / ids) * 1e6, peakMiB };
}

/** The peak memory of `plan` over a file of so many ids. @throws when it tells another number. */
async function planPeak(file: string, count: number, folder: string): Promise<number> {
  const where = ['--ids', file, '--url', 'http://127.0.0.1', '--out', join(folder, 'planned')];
  const { stdout, peakMiB } = await runMeasured(
    { program: 'asset-export', args: ['plan', ...where, '--json'] },
    folder,
  );
  const { valid } = JSON.parse(stdout) as { valid: number };
  if (valid !== count) throw new Error(`plan found ${valid} of ${count} ids`);
  return peakMiB;
}
