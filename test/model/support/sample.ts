import { execFileSync } from 'node:child_process';

/** What a run takes of a long list: the cases at `offset`, `offset + step`, and so on, modulo `step`. */
export interface Sample {
  readonly step: number;
  /** The number of the commit: steps without a common divisor meet in all pairs of cases. */
  readonly offset: number;
}

const step = 16;

/** `npm test` strikes every 16th operation, from another one after each commit. `MODEL=all` strikes all, `MODEL_OFFSET` repeats a sample. */
export function sampleOf(environment: Readonly<Record<string, string | undefined>>): Sample {
  const { TEST, MODEL, MODEL_OFFSET } = environment;
  if (TEST === 'all' || MODEL === 'all') return { step: 1, offset: 0 };
  const offset = MODEL_OFFSET === undefined ? commitNumber() : Number(MODEL_OFFSET);
  if (!Number.isInteger(offset) || offset < 0) throw new Error(`MODEL_OFFSET is no whole number: ${MODEL_OFFSET}`);
  return { step, offset };
}

/** The number of commits; in a shallow clone, which does not know it, a number from the hash; 0 without git. */
function commitNumber(): number {
  try {
    if (git('rev-parse', '--is-shallow-repository') === 'true')
      return Number.parseInt(git('rev-parse', 'HEAD').slice(-1), 16);
    return Number(git('rev-list', '--count', 'HEAD'));
  } catch {
    return 0;
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

export const sample = sampleOf(process.env);

/** Of the operations that a model may strike, those of this run. */
export function sampledOperations<T>(operations: readonly T[]): T[] {
  return sampled(operations, step);
}

/** Of a list of cases, what this run takes; never nothing. @param each short lists of dear cases take more than every 8th */
export function sampled<T>(list: readonly T[], each = 8): T[] {
  const own = Math.min(sample.step, each, Math.max(list.length, 1));
  return list.filter((_, index) => index % own === sample.offset % own);
}

/** Of a list of cases, those that each run takes, and a sample of the others. */
export function sampledBeside<T>(list: readonly T[], isAlways: (item: T) => boolean, each?: number): T[] {
  const others = list.filter((item) => !isAlways(item));
  return [...list.filter(isAlways), ...sampled(others, each)];
}

/** Options of fast-check for this run's share of so many runs. A path of one number is the first of them. */
export function sampledRuns(all: number): { readonly numRuns: number; readonly path: string } {
  const shares = Math.min(sample.step, 8);
  const numRuns = Math.ceil(all / shares);
  return { numRuns, path: String((sample.offset % shares) * numRuns) };
}
