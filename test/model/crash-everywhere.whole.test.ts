import { afterAll, beforeAll, describe, it } from 'vitest';
import { SeededRandom } from '../../packages/practice-service/src/generated/seeded-random.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { everywhere, type Stop, stoppedAt, type Verdict } from './support/everywhere.ts';
import type { Operation } from './support/memory-disk.ts';
import { SmallExport, writeSmallIds } from './support/small-export.ts';
import { type Undisturbed, undisturbedRun } from './support/undisturbed.ts';

let folder: Awaited<ReturnType<typeof keptFolder>>;
let idsPath: string;
let calm: Undisturbed;

beforeAll(async () => {
  folder = await keptFolder();
  idsPath = writeSmallIds(folder.path);
  calm = await undisturbedRun(new SmallExport(idsPath));
});

afterAll(() => folder.remove());

function isWrite({ kind }: Operation): boolean {
  return kind === 'write';
}

const stopped = (n: number, how: Pick<Stop, 'fate' | 'powerLoss'>): Promise<Verdict> =>
  stoppedAt(n, { open: () => new SmallExport(idsPath), calm, ...how });

// Promise, Nothing lost: After a stop or power loss anywhere, the same command ends with the same bytes (sampled)
describe('an export whose machine stops at any operation of the disk goes on to the same bytes, and pays for no kept answer again', () => {
  it('when the program is killed', () => everywhere(calm.operations, (n) => stopped(n, {})), 120_000);

  it(
    'when it is killed within a write',
    () => everywhere(calm.operations, (n) => stopped(n, { fate: { kind: 'dies', writtenShare: 0.5 } }), isWrite),
    120_000,
  );

  it(
    'when the power is lost, with all that was not synced',
    () => everywhere(calm.operations, (n) => stopped(n, { powerLoss: () => false })),
    120_000,
  );

  it(
    'when the power is lost, with any part of what was not synced',
    () =>
      everywhere(calm.operations, (n) => {
        const random = new SeededRandom([n, 1, 2, 3]);
        return stopped(n, { fate: { kind: 'dies', writtenShare: 0.5 }, powerLoss: () => random.chance(50) });
      }),
    120_000,
  );
});
