import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AssetCall } from '../../src/client/asset-client.ts';
import { dayMs, systemClock } from '../../src/lib/clock.ts';
import { SeededRandom } from '../../src/service/generated/seeded-random.ts';
import { generatedId } from '../../src/service/generated/generated-assets.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { everywhere, type Stop, stoppedAt } from './everywhere.ts';
import type { Operation } from './memory-disk.ts';
import { earlierAnswer, SmallExport, type SmallRun, writeSmallIds } from './small-export.ts';
import { type Undisturbed, undisturbedRun } from './undisturbed.ts';

const base = '/exports/base';
const firstNight = Date.UTC(2026, 10, 20, 2);
let folder: Awaited<ReturnType<typeof keptFolder>>;
let idsPath: string;
let first: SmallExport;
let calm: Undisturbed;

const open = (): SmallExport => new SmallRefresh(idsPath, first.disk.copy());

const clockOf = (night: number) => ({ ...systemClock, now: () => firstNight + night * dayMs });

const flags = { tables: 'assets,creators,changes', 'missing-after': '1d', 'max-age': '2d' };

/** The second night of the small export: some ids are new, stale rows are requested up to a limit, others are carried. */
class SmallRefresh extends SmallExport {
  override run(run: SmallRun = {}): ReturnType<SmallExport['run']> {
    const refreshed = { ...flags, base, 'base-credits': '320', ...run.flags };
    return super.run({ ...run, flags: refreshed, context: { clock: clockOf(2), ...run.context } });
  }
}

beforeAll(async () => {
  folder = await keptFolder();
  idsPath = writeSmallIds(folder.path);
  // One is not listed on the second night, and some are new then.
  const earlierIds = join(folder.path, 'earlier.txt');
  const known = [...Array.from({ length: 22 }, (_, n) => generatedId(9, n)), generatedId(9, 99)];
  writeFileSync(earlierIds, `${known.join('\n')}\n`);
  first = new SmallExport(earlierIds);
  const openWire = () => ({
    ask: async (call: AssetCall) => earlierAnswer(call),
    close: async () => undefined,
  });
  await first.run({ flags: { ...flags, out: base, base: 'none' }, context: { clock: clockOf(0), openWire } });
  calm = await undisturbedRun(open());
});

afterAll(() => folder.remove());

/** What is only read leaves the disk as it was: a stop there is one at the next change. */
const reads: readonly Operation['kind'][] = ['read', 'list', 'open', 'close'];

const stopped = (how: (n: number) => Pick<Stop, 'fate' | 'powerLoss'>): Promise<void> =>
  everywhere(
    calm.operations,
    (n) => stoppedAt(n, { open, calm, ...how(n) }),
    ({ kind }) => !reads.includes(kind),
  );

describe('an export with a base whose machine stops at any operation of the disk goes on to the same bytes, and pays for no kept answer again', () => {
  it('requests some ids and carries others', async () => {
    const outcome = await open().run();
    const { counts } = outcome?.account ?? {};
    expect(outcome?.state).toBe('complete');
    expect(counts?.carried).toBeGreaterThan(5);
    expect(counts?.exported).toBeGreaterThan(10);
    expect(counts?.missing).toBeGreaterThan(0);
    expect([...calm.files.keys()].filter((path) => path.includes('/changes/')).length).toBeGreaterThan(2);
  });

  it('when the program is killed', () => stopped(() => ({})), 120_000);

  it(
    'when the power is lost, with any part of what was not synced',
    () =>
      stopped((n) => {
        const random = new SeededRandom([n, 1, 2, 3]);
        return { fate: { kind: 'dies', writtenShare: 0.5 }, powerLoss: () => random.chance(30) };
      }),
    120_000,
  );
});
