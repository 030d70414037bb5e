import { type Place, type Run, runScenario } from './run-scenario.ts';
import { type Scenario, scenarioOf } from './scenarios.ts';
import type { Sizes } from './sizes.ts';
import { median } from './statistics.ts';

/** One scenario in one round. */
export interface Sample {
  readonly name: string;
  readonly round: number;
  /** Its place in the round. */
  readonly turn: number;
  /** Microseconds an asset takes beyond the start: by CPU time, and by the clock. */
  readonly cpuUs: number;
  readonly wallUs: number;
  /** Of its CPU time: in the system's kernel, and in pauses for garbage. */
  readonly systemUs: number;
  readonly gcUs: number;
  /** Pages of memory touched for the first time, an asset. */
  readonly faults: number;
  /** CPU time of the smaller and of the larger run, start and all. */
  readonly fewCpuS: number;
  readonly wholeCpuS: number;
  /** CPU time of the start: what the smaller run took beyond its assets. */
  readonly startCpuS: number;
  readonly peakMiB: number;
  /** Calls of both runs, and how many were needed. */
  readonly calls: number;
  readonly neededCalls: number;
}

export interface Places {
  readonly near: Place;
  readonly far: Place;
  /** With the records of `--records`; what needs them does not run without. */
  readonly real: Place | undefined;
  readonly tell: (line: string) => void;
}

/** Runs every scenario in every round, at two sizes. */
export async function measureScenarios(sizes: Sizes, places: Places): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let round = 1; round <= sizes.rounds; round += 1) {
    for (const [turn, name] of sizes.round.entries()) {
      const scenario = scenarioOf(name);
      const place = placeOf(scenario, places);
      if (place === undefined) continue;
      const sample = { name, round, turn, ...(await measure(scenario, sizes, place)) };
      samples.push(sample);
      places.tell(
        `round ${round} of ${sizes.rounds}  ${name.padEnd(36)} ${sample.cpuUs.toFixed(1)} µs of CPU an asset`,
      );
    }
  }
  return samples;
}

const nothing: Run = { cpuS: 0, systemS: 0, gcS: 0, faults: 0, wallS: 0, peakMiB: 0, calls: 0, neededCalls: 0 };

type Figures = Omit<Sample, 'name' | 'round' | 'turn'>;

function placeOf(scenario: Scenario, { near, far, real }: Places): Place | undefined {
  if (scenario.real === true) return real;
  return scenario.far === true ? far : near;
}

async function measure(scenario: Scenario, { few, many }: Sizes, place: Place): Promise<Figures> {
  const small = few === 0 ? nothing : await runScenario(scenario, few, place);
  const large = await runScenario(scenario, many, place);
  const each = (figure: (run: Run) => number): number => ((figure(large) - figure(small)) / (many - few)) * 1e6;
  const cpuUs = each((run) => run.cpuS);
  return {
    cpuUs,
    wallUs: each((run) => run.wallS),
    systemUs: each((run) => run.systemS),
    gcUs: each((run) => run.gcS),
    faults: each((run) => run.faults) / 1e6,
    fewCpuS: small.cpuS,
    wholeCpuS: large.cpuS,
    startCpuS: small.cpuS - (cpuUs * few) / 1e6,
    peakMiB: large.peakMiB,
    calls: small.calls + large.calls,
    neededCalls: small.neededCalls + large.neededCalls,
  };
}

export type Figure = keyof Figures;

/** The median of a scenario's figure over its runs. */
export function medianOf(samples: readonly Sample[], name: string, figure: Figure): number {
  return median(samples.filter((sample) => sample.name === name).map((sample) => sample[figure]));
}

/** How often `of`'s figure goes into `beside`'s: the median of the rounds, each run beside the nearest of the other. */
export function ratioOf(samples: readonly Sample[], names: { of: string; beside: string }, figure: Figure): number {
  const ratios: number[] = [];
  for (const sample of samples) {
    if (sample.name !== names.of) continue;
    const [nearest] = samples
      .filter(({ name, round }) => name === names.beside && round === sample.round)
      .toSorted((a, b) => Math.abs(a.turn - sample.turn) - Math.abs(b.turn - sample.turn));
    if (nearest !== undefined) ratios.push(nearest[figure] / sample[figure]);
  }
  return median(ratios);
}

export function sumOf(samples: readonly Sample[], figure: Figure): number {
  return samples.reduce((sum, sample) => sum + sample[figure], 0);
}
