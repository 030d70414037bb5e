import { expect } from 'vitest';
import { failingAt } from './failing-weather.ts';
import type { Fate, Operation } from './memory-disk.ts';
import { sample, sampledOperations } from './sample.ts';
import type { SmallExport } from './small-export.ts';
import { type Undisturbed, watchPublished, wrongFiles } from './undisturbed.ts';

/** The operation that was struck, and what was wrong in the end. */
export interface Verdict {
  readonly struck: Operation | undefined;
  readonly problems: readonly string[];
}

/**
 * Strikes these operations of an undisturbed run, or this run's sample of them, one at a time, and expects that nothing is wrong.
 * @param isStruck unless given, a sample has the changes alone
 */
export async function everywhere(
  operations: readonly Operation[],
  strike: (n: number) => Promise<Verdict>,
  isStruck: (operation: Operation) => boolean = sample.step === 1 ? () => true : changesEach(1),
): Promise<void> {
  const wrong: string[] = [];
  const numbers = sampledOperations(operations.flatMap((operation, n) => (isStruck(operation) ? [n] : [])));
  for (const n of numbers) {
    const { struck, problems } = await strike(n);
    if (problems.length > 0) wrong.push(`${n} ${struck?.kind ?? ''} ${struck?.path ?? ''}: ${problems.join('; ')}`);
  }
  expect(wrong.slice(0, 12), `${wrong.length} of ${numbers.length}`).toEqual([]);
}

/** What is only read leaves the disk as it was: a stop there is one at the next change. */
const reads: readonly Operation['kind'][] = ['read', 'list', 'open', 'close'];

/** Every change of the disk, or one of so many, from another one after each commit; and the same of a store. */
export function changesEach(each: number, storesEach = 1): (operation: Operation) => boolean {
  const seen = { changes: 0, stores: 0 };
  return ({ kind }) => {
    if (reads.includes(kind)) return false;
    if (kind === 'store') return seen.stores++ % storesEach === sample.offset % storesEach;
    return seen.changes++ % each === sample.offset % each;
  };
}

export interface Stop {
  /** The export as it is before the run that is stopped. */
  readonly open: () => SmallExport;
  readonly calm: Undisturbed;
  /** What becomes of a write at which the machine stops. */
  readonly fate?: Fate;
  /** Draws what survives of that which was not synced; absent: the program is killed, and the machine goes on. */
  readonly powerLoss?: () => boolean;
}

/** Stops the machine at the n-th operation of a run, restarts it, and runs again. */
export async function stoppedAt(n: number, { open, calm, fate = { kind: 'dies' }, powerLoss }: Stop): Promise<Verdict> {
  const small = open();
  const problems = watchPublished(small, calm);
  let struck: Operation | undefined;
  small.disk.weather = failingAt(n, (operation) => {
    struck = operation;
    return operation.kind === 'write' ? fate : { kind: 'dies' };
  });
  await small.run();
  const kept = small.keptAnswers(powerLoss === undefined ? 'written' : 'synced');
  if (powerLoss === undefined) small.disk.restart();
  else small.disk.restartAfterPowerLoss(powerLoss);
  problems.push(...wrongFiles(small, calm), ...(await mended(small, { kept, calm })));
  return { struck, problems };
}

export interface Expected {
  /** Keys of answers that are not to be paid for again. */
  readonly kept: ReadonlySet<string>;
  readonly calm: Undisturbed;
}

/** Runs the same request once more, and says everything that is not as it should be. */
export async function mended(small: SmallExport, { kept, calm }: Expected): Promise<string[]> {
  const before = new Map(small.asked);
  const outcome = await small.run();
  const paidAgain = [...small.asked].filter(([key, times]) => kept.has(key) && times > (before.get(key) ?? 0));
  const problems = wrongFiles(small, calm);
  if (outcome?.state !== 'complete' && outcome?.state !== 'already') {
    problems.push(`it is ${outcome?.state ?? 'killed'}: ${outcome?.error?.message ?? ''}`);
  }
  if (small.published().size !== calm.files.size) problems.push(`${small.published().size} files are published`);
  if (paidAgain.length > 0) problems.push(`${paidAgain.length} kept answers were paid for again`);
  if (small.disk.openFiles > 0) problems.push(`${small.disk.openFiles} files are left open`);
  // What is complete stays complete: all of it was synced.
  small.disk.restartAfterPowerLoss(() => false);
  if (small.published().size !== calm.files.size) problems.push('a loss of power takes files away');
  return [...problems, ...wrongFiles(small, calm)];
}
