import { type Place, runNight } from './run-scenario.ts';
import { scenarioOf } from './scenarios.ts';
import type { Sizes } from './sizes.ts';
import { median } from './statistics.ts';

/** A night that carries every row of the night before, in its format. */
export interface Night {
  /** Microseconds of CPU time a row beyond the start. */
  readonly cpuUs: number;
  /** Peak memory, divided by that of the run which it carries. */
  readonly memory: number;
}

/** What carried rows take, by scenario: medians of rounds. */
export async function measureNights(
  { carried, rounds, few, many }: Sizes,
  place: Place,
  tell: (line: string) => void,
): Promise<ReadonlyMap<string, Night>> {
  const nights = new Map<string, Night>();
  for (const name of carried) {
    tell(`a night of ${name}`);
    const taken: Night[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const start = few === 0 ? 0 : (await runNight(scenarioOf(name), few, place)).night.cpuS;
      const { run, night } = await runNight(scenarioOf(name), many, place);
      taken.push({ cpuUs: ((night.cpuS - start) / (many - few)) * 1e6, memory: night.peakMiB / run.peakMiB });
    }
    nights.set(name, {
      cpuUs: median(taken.map(({ cpuUs }) => cpuUs)),
      memory: median(taken.map(({ memory }) => memory)),
    });
  }
  return nights;
}
