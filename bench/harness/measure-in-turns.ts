import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Measured, startMeasured } from './measured-child.ts';
import { commandOf, outputOf, type Place, requireAll } from './run-scenario.ts';
import { type Scenario, scenarioOf } from './scenarios.ts';
import type { Sizes } from './sizes.ts';
import { median } from './statistics.ts';

/** CPU time of two whole runs that took turns, start and all, in seconds. */
export interface InTurns {
  readonly of: string;
  readonly beside: string;
  readonly ofCpuS: number;
  readonly besideCpuS: number;
}

/** Short, beside what slows a machine: another that shares its memory and its caches comes and goes by the second. */
export const turnMs = 200;

/** Runs the pairs of every round; who begins changes. */
export async function measureInTurns(
  { rounds, pairs, many }: Pick<Sizes, 'rounds' | 'pairs' | 'many'>,
  place: Place,
  tell: (line: string) => void,
): Promise<InTurns[]> {
  const found: InTurns[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const [turn, { of, beside }] of pairs.entries()) {
      const isFirst = (round + turn) % 2 === 0;
      const [first, second] = isFirst ? [of, beside] : [beside, of];
      const [one, other] = await runInTurns([scenarioOf(first), scenarioOf(second)], many, place);
      const [ofCpuS, besideCpuS] = isFirst ? [one, other] : [other, one];
      found.push({ of, beside, ofCpuS, besideCpuS });
      tell(
        `round ${round} of ${rounds}  in turns  ${of}, ${beside}: ${ofCpuS.toFixed(2)}, ${besideCpuS.toFixed(2)} s of CPU`,
      );
    }
  }
  return found;
}

/** How often `of`'s CPU time goes into `beside`'s: the median of the pairs. */
export function inTurns(found: readonly InTurns[], names: { of: string; beside: string }): number {
  const pairs = found.filter(({ of, beside }) => of === names.of && beside === names.beside);
  return median(pairs.map(({ ofCpuS, besideCpuS }) => besideCpuS / ofCpuS));
}

type Pair<T> = readonly [T, T];

/** Two runs of which one is always stopped, until one of them ends. @returns what each took, in seconds of CPU time */
async function runInTurns([one, other]: Pair<Scenario>, count: number, place: Place): Promise<Pair<number>> {
  const runs = [start(one, count, ownPlace(place, 'one')), start(other, count, ownPlace(place, 'other'))] as const;
  const kill = (): void => {
    for (const { child } of runs) child.kill('SIGKILL');
  };
  // One that is stopped would outlive this process.
  process.once('exit', kill);
  try {
    let [running, waiting]: Pair<Started> = runs;
    waiting.child.kill('SIGSTOP');
    while (!(await endsSoon(running))) {
      running.child.kill('SIGSTOP');
      waiting.child.kill('SIGCONT');
      [running, waiting] = [waiting, running];
    }
    waiting.child.kill('SIGCONT');
    return [await runs[0].cpuS, await runs[1].cpuS];
  } finally {
    process.off('exit', kill);
    kill();
  }
}

type Started = ReturnType<typeof start>;

function start(scenario: Scenario, count: number, place: Place) {
  const { child, ended } = startMeasured(commandOf(scenario, { count }, place), place.folder);
  const cpuS = ended.then((measured: Measured) => {
    requireAll(scenario, count, measured.stdout);
    rmSync(outputOf(place), { recursive: true, force: true });
    return measured.cpuS;
  });
  // The other may fail first, and nobody waits for this one any more.
  cpuS.catch(() => undefined);
  return { child, cpuS };
}

/** Does it end within its turn? @throws when it fails */
async function endsSoon({ cpuS }: Started): Promise<boolean> {
  const turnIsOver = new AbortController();
  try {
    return await Promise.race([cpuS.then(() => true), sleep(turnMs, false, { signal: turnIsOver.signal })]);
  } finally {
    turnIsOver.abort();
  }
}

function ownPlace(place: Place, name: string): Place {
  const folder = join(place.folder, name);
  mkdirSync(folder, { recursive: true });
  return { ...place, folder };
}
