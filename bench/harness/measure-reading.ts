import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeIds } from '../load/ids.ts';
import { runMeasured } from './measured-child.ts';
import type { Sizes } from './sizes.ts';
import { median } from './statistics.ts';

const readings: ReadonlyMap<string, 'check' | 'duplicates'> = new Map([
  ['lines, exact check', 'check'],
  ['lines, check, duplicates', 'duplicates'],
]);

export interface ReadIds {
  /** Microseconds of CPU time an id, by the name of the reading: medians. */
  readonly cpuUs: ReadonlyMap<string, number>;
  /** Peak memory of `plan` over `idsHeld` ids: it reads them, removes duplicates, and does little else. */
  readonly heldMiB: number;
}

/** Reads ids in every way, each in a process of its own, in rounds. */
export async function measureReading(sizes: Sizes, folder: string): Promise<ReadIds> {
  const file = join(folder, 'ids.txt');
  writeIds(file, sizes.idsRead);
  const cpuUs = new Map<string, number>();
  for (const [name, way] of readings) {
    const taken: number[] = [];
    for (let round = 0; round < sizes.rounds; round += 1) taken.push((await readIn(way, file, folder)).cpuUs);
    cpuUs.set(name, median(taken));
  }
  writeIds(file, sizes.idsHeld);
  const heldMiB = await planPeak(file, sizes.idsHeld, folder);
  rmSync(file);
  return { cpuUs, heldMiB };
}

/** Reads a file in one way: what an id takes, and the peak memory of all. @throws when not every id was found valid. */
export async function readIn(way: string, file: string, folder: string): Promise<{ cpuUs: number; peakMiB: number }> {
  const { stdout, peakMiB } = await runMeasured({ program: 'read-ids.ts', args: [way, file] }, folder);
  const { ids, valid, cpuS } = JSON.parse(stdout) as { ids: number; valid: number; cpuS: number };
  if (valid !== ids) throw new Error(`${way} found ${valid} of ${ids} ids`);
  return { cpuUs: (cpuS / ids) * 1e6, peakMiB };
}

/** The peak memory of `plan` over a file of so many ids. @throws when it counts another number. */
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
