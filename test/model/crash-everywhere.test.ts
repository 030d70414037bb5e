import { afterAll, beforeAll, describe, it } from 'vitest';
import { SeededRandom } from '../../src/service/generated/seeded-random.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { everywhere, mended, type Verdict } from './everywhere.ts';
import { failingAt } from './failing-weather.ts';
import type { Fate, Operation } from './memory-disk.ts';
import { SmallExport, writeSmallIds } from './small-export.ts';
import { type Undisturbed, undisturbedRun, watchPublished, wrongFiles } from './undisturbed.ts';

let folder: Awaited<ReturnType<typeof keptFolder>>;
let idsPath: string;
let calm: Undisturbed;

beforeAll(async () => {
  folder = await keptFolder();
  idsPath = writeSmallIds(folder.path);
  calm = await undisturbedRun(idsPath);
});

afterAll(() => folder.remove());

function isWrite({ kind }: Operation): boolean {
  return kind === 'write';
}

/** Runs with a stop of the machine at the n-th operation, restarts it, and runs again. */
async function stopped(n: number, fate: Fate, powerLoss?: () => boolean): Promise<Verdict> {
  const small = new SmallExport(idsPath);
  const problems = watchPublished(small, calm);
  let struck: Operation | undefined;
  small.disk.weather = failingAt(n, (operation) => {
    struck = operation;
    return isWrite(operation) ? fate : { kind: 'dies' };
  });
  await small.run();
  const kept = small.keptAnswers(powerLoss === undefined ? 'written' : 'synced');
  if (powerLoss === undefined) small.disk.restart();
  else small.disk.restartAfterPowerLoss(powerLoss);
  problems.push(...wrongFiles(small, calm), ...(await mended(small, { kept, calm })));
  return { struck, problems };
}

describe('an export whose machine stops at any operation of the disk goes on to the same bytes, and pays for no kept answer again', () => {
  it('when the program is killed', () => everywhere(calm.operations, (n) => stopped(n, { kind: 'dies' })), 120_000);

  it(
    'when it is killed within a write',
    () => everywhere(calm.operations, (n) => stopped(n, { kind: 'dies', writtenShare: 0.5 }), isWrite),
    120_000,
  );

  it(
    'when the power is lost, with all that was not synced',
    () => everywhere(calm.operations, (n) => stopped(n, { kind: 'dies' }, () => false)),
    120_000,
  );

  it(
    'when the power is lost, with any part of what was not synced',
    () =>
      everywhere(calm.operations, (n) => {
        const random = new SeededRandom([n, 1, 2, 3]);
        return stopped(n, { kind: 'dies', writtenShare: 0.5 }, () => random.chance(50));
      }),
    120_000,
  );
});
