import { mended, type Verdict } from './everywhere.ts';
import { failingAt } from './failing-weather.ts';
import type { Operation } from './memory-disk.ts';
import type { SmallBucket } from './small-bucket.ts';
import { type Undisturbed, wrongFiles } from './undisturbed.ts';

export interface KilledInBucket {
  /** Opens the export, of a process with a disk of its own; in the bucket of another one where that is given. */
  readonly open: (bucket?: SmallBucket['bucket']) => SmallBucket;
  readonly calm: Undisturbed;
  /** Whether it is resumed elsewhere. */
  readonly losesDisk: boolean;
}

/** Kills a process at an operation of its disk or its bucket, and resumes. */
export async function killedInBucket(n: number, { open, calm, losesDisk }: KilledInBucket): Promise<Verdict> {
  const small = open();
  let struck: Operation | undefined;
  small.disk.weather = failingAt(n, (operation) => {
    struck = operation;
    return { kind: 'dies' };
  });
  await small.run();
  const problems = wrongFiles(small, calm);
  small.disk.restart();
  const next = losesDisk ? open(small.bucket) : small;
  const kept = losesDisk ? new Set<string>() : small.keptAnswers('written');
  return { struck, problems: [...problems, ...(await mended(next, { kept, calm }))] };
}
