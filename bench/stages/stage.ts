import { median } from '../harness/statistics.ts';

/** Work on the same answers again and again. */
export interface Stage {
  readonly name: string;
  /** Part of every export as CSV, or of others. */
  readonly kind: 'csv' | 'more';
  readonly run: () => unknown;
}

export interface StageFigure extends Pick<Stage, 'name' | 'kind'> {
  /** Microseconds of CPU time a record. */
  readonly cpuUs: number;
}

/**
 * Microseconds of CPU time that a record takes in each stage: medians of rounds in which every stage runs in turn, after one
 * that does not count. The time is the whole process's: garbage collection and WebAssembly threads count.
 */
export async function measureStages(
  stages: readonly Stage[],
  { records, rounds }: { records: number; rounds: number },
): Promise<StageFigure[]> {
  const taken = new Map<string, number[]>(stages.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, run } of stages) {
      const before = process.cpuUsage();
      await run();
      const { user, system } = process.cpuUsage(before);
      if (round > 0) taken.get(name)?.push((user + system) / records);
    }
  }
  return stages.map(({ name, kind }) => ({ name, kind, cpuUs: median(taken.get(name) ?? []) }));
}
