import { beforeEach, describe, expect, it } from 'vitest';
import type { Operation } from '../../../model/support/memory-disk.ts';
import { SmallBucket } from '../../../model/support/small-bucket.ts';
import { SmallExport, type SmallRun, writeSmallIds } from '../../../model/support/small-export.ts';
import { SmallFleet } from '../../../model/support/small-fleet.ts';
import { type Undisturbed, undisturbedRun, wrongFiles } from '../../../model/support/undisturbed.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

let idsPath = '';
beforeEach(async () => {
  idsPath = writeSmallIds(await tempFolder());
});

const firstFile = 'csv/creators/part-00000.csv';

const places = [
  {
    place: 'a folder',
    open: () => new SmallExport(idsPath),
    flags: {},
    damage: (small: SmallExport, how: 'gone' | 'cut') => {
      const path = `/exports/small/${firstFile}`;
      if (how === 'gone') small.disk.tree.unlink(path);
      else small.disk.tree.fileAt(path)?.truncate(7);
    },
  },
  ...[SmallBucket, SmallFleet].map((Small) => ({
    place: Small === SmallBucket ? 'a bucket' : 'a fleet',
    open: () => new Small(idsPath),
    flags: { 'entries-per-slice': '24' },
    damage: (small: SmallExport, how: 'gone' | 'cut') => {
      if (!(small instanceof SmallBucket)) throw new Error('no bucket');
      const found = small.bucket.objects.get(firstFile);
      if (how === 'gone' || found === undefined) small.bucket.objects.delete(firstFile);
      else small.bucket.objects.set(firstFile, { ...found, bytes: found.bytes.subarray(0, 7) });
    },
  })),
];

describe.each(places)(
  'an unfinished export in $place, of which a committed file is damaged',
  ({ open, flags, damage }) => {
    let calm: Undisturbed;
    beforeEach(async () => {
      calm = await undisturbedRun(open());
    });

    const stoppedAt = async (ending: string): Promise<SmallExport> => {
      const small = open();
      small.disk.weather = ({ path }: Operation) => (path.endsWith(ending) ? { kind: 'dies' } : { kind: 'happens' });
      expect(await small.run({ flags })).toBeUndefined();
      small.disk.restart();
      return small;
    };

    const run = async (small: SmallExport) => {
      const told: string[] = [];
      const context: SmallRun['context'] = {
        listener: (event) => void (event.kind === 'warning' && told.push(event.message)),
      };
      return { outcome: await small.run({ flags, context }), told };
    };

    const paidTwice = (small: SmallExport): number => [...small.asked.values()].filter((times) => times > 1).length;

    it.each(['gone', 'cut'] as const)('names the part that is %s, and its price, and makes it again', async (how) => {
      const small = await stoppedAt('csv/creators/part-00001.csv');
      const before = paidTwice(small);
      damage(small, how);
      const { outcome, told } = await run(small);
      expect(outcome?.error).toBeUndefined();
      expect(outcome).toMatchObject({ state: 'complete' });
      expect(told).toEqual([
        expect.stringMatching(
          /part-00000\.csv was committed with \d+ bytes, but (?:is missing|has 7 now): part 0 is made again \(about 3 calls, 480 credits\)$/,
        ),
      ]);
      expect(wrongFiles(small, calm)).toEqual([]);
      expect(paidTwice(small)).toBeLessThanOrEqual(before + 7);
    });

    it('is complete after one run more at the most, where its slice is done', async () => {
      const small = await stoppedAt('csv/creators/part-00002.csv');
      damage(small, 'gone');
      const first = await run(small);
      if (first.outcome?.state !== 'complete') expect(first.outcome?.error?.again).toBe('now');
      expect((await run(small)).outcome?.error).toBeUndefined();
      expect(wrongFiles(small, calm)).toEqual([]);
    });

    it('is complete after one run more, where the damage comes last', async () => {
      const small = open();
      small.disk.weather = ({ path }) => {
        if (path.endsWith('csv/creators/part-00002.csv')) damage(small, 'gone');
        return { kind: 'happens' };
      };
      expect(await small.run({ flags })).toMatchObject({
        state: 'unfinished',
        error: { exit: 'damaged', todo: expect.stringContaining('it makes 1 part again') as string },
      });
      small.disk.restart();
      expect((await run(small)).outcome).toMatchObject({ state: 'complete' });
      expect(wrongFiles(small, calm)).toEqual([]);
    });
  },
);
