import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExportError } from '../../src/lib/export-error.ts';
import { SeededRandom } from '../../packages/practice-service/src/generated/seeded-random.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { everywhere, mended } from './support/everywhere.ts';
import { failingAt, failures, isMet } from './support/failing-weather.ts';
import type { MemoryDisk, Operation } from './support/memory-disk.ts';
import { sampledOperations } from './support/sample.ts';
import { SmallExport, writeSmallIds } from './support/small-export.ts';
import {
  recordOperations,
  type Undisturbed,
  undisturbedRun,
  watchPublished,
  wrongFiles,
} from './support/undisturbed.ts';

let folder: Awaited<ReturnType<typeof keptFolder>>;
let idsPath: string;
let calm: Undisturbed;

beforeAll(async () => {
  folder = await keptFolder();
  idsPath = writeSmallIds(folder.path);
  calm = await undisturbedRun(new SmallExport(idsPath));
});

afterAll(() => folder.remove());

const histories = sampledOperations(Array.from({ length: 150 }, (_, seed) => seed));

/** One run that meets a failure or a stop at a random place; the answers that are kept after it. */
async function disturbedRun(small: SmallExport, random: SeededRandom): Promise<Set<string>> {
  const failure = random.pick(failures);
  const dies = random.chance(60);
  const once = random.chance(50);
  small.disk.weather = failingAt(random.below(calm.operations.length), (operation, isFirst) => {
    if (dies) return { kind: 'dies', writtenShare: random.below(100) / 100 };
    return isMet(operation, failure) && (isFirst || !once) ? { kind: 'fails', ...failure } : undefined;
  });
  await small.run().catch((error: unknown) => {
    expect(error).toMatchObject({ exit: 'cannotWrite' });
  });
  if (!dies || random.chance(50)) {
    small.disk.restart();
    return small.keptAnswers('written');
  }
  const kept = small.keptAnswers('synced');
  small.disk.restartAfterPowerLoss(() => random.chance(30));
  return kept;
}

describe('an export that is disturbed again and again', () => {
  // Promise, Nothing lost: Stopped again and again, an export ends with the same bytes (sampled)
  it(`ends with the same bytes, and pays for no kept answer again (${histories.length} histories)`, async () => {
    const wrong: string[] = [];
    for (const seed of histories) {
      const random = new SeededRandom([seed, 7, 7, 7]);
      const small = new SmallExport(idsPath);
      const problems = watchPublished(small, calm);
      let kept = new Set<string>();
      for (let disturbances = 1 + random.below(4); disturbances > 0; disturbances -= 1) {
        const before = new Map(small.asked);
        const keptNow = await disturbedRun(small, random);
        const again = [...small.asked].filter(([key, times]) => kept.has(key) && times > (before.get(key) ?? 0));
        if (again.length > 0) problems.push(`${again.length} kept answers were paid for again`);
        // A loss of power may take what only a kill has left before.
        kept = keptNow;
        problems.push(...wrongFiles(small, calm));
      }
      problems.push(...(await mended(small, { kept, calm })));
      if (problems.length > 0) wrong.push(`seed ${seed}: ${problems.join('; ')}`);
    }
    expect(wrong.slice(0, 12)).toEqual([]);
  }, 120_000);
});

describe('an export that is thrown away', () => {
  /**
   * An export of more parts than the one that follows, complete or not. It is left as the new one will be: without power,
   * so that what it has not synced is not counted as something that the new one removed.
   */
  async function largerExport(complete: boolean, restart: (disk: MemoryDisk) => void): Promise<SmallExport> {
    const small = new SmallExport(idsPath);
    if (!complete) small.disk.weather = failingAt(338, () => ({ kind: 'dies' }));
    await small.run({ rowsPerPart: 5 });
    restart(small.disk);
    return small;
  }

  /**
   * What the disk does until the first part of the new export is committed: then all that was removed is synced. What follows
   * is any export, which crash-everywhere kills.
   */
  async function throwingAway(small: SmallExport): Promise<readonly Operation[]> {
    const operations = recordOperations(small);
    await small.run({ fresh: true });
    // The claim is the first entry of the log.
    const firstCommit = operations.findIndex(({ kind, path }) => kind === 'link' && path.endsWith('/000001.json'));
    expect(firstCommit).toBeGreaterThan(0);
    return operations.slice(0, firstCommit);
  }

  const killed = (disk: MemoryDisk): void => {
    disk.restart();
  };
  const withoutPower = (disk: MemoryDisk): void => {
    disk.restartAfterPowerLoss(() => false);
  };

  it.each([
    ['the program is killed', true, killed],
    ['the program is killed', false, killed],
    ['the power is lost', true, withoutPower],
    ['the power is lost', false, withoutPower],
  ] as const)(
    'is whole or gone, wherever %s (it was complete: %s)',
    async (_what, complete, restart) => {
      const larger = await largerExport(complete, restart);
      const copy = (): SmallExport => new SmallExport(idsPath, larger.disk.copy());
      const operations = await throwingAway(copy());
      await everywhere(operations, async (n) => {
        const small = copy();
        const before = small.published().size;
        expect(before).toBeGreaterThan(10);
        let struck: Operation | undefined;
        small.disk.weather = failingAt(n, (operation) => {
          struck = operation;
          return { kind: 'dies' };
        });
        await small.run({ fresh: true });
        restart(small.disk);
        const left = small.published().size;
        const refused = await small.run().then(
          () => false,
          (error: unknown) => error instanceof ExportError && error.exit === 'usage',
        );
        if (refused) return { struck, problems: left === before ? [] : ['a half of it is left'] };
        return { struck, problems: await mended(small, { kept: new Set(), calm }) };
      });
    },
    120_000,
  );
});
