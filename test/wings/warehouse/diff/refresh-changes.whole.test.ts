import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { diffExports } from '../../../../src/wings/warehouse/diff/diff-exports.ts';
import { localDisk } from '../../../../src/places/files/disk.ts';
import { keptFolder } from '../../../support/temp-folder.ts';
import { changesOf, comparedByHand, ignored, type Values } from './plain-comparison.ts';
import { assetIds, exportNight, firstNight, secondNight, thirdNight } from './two-nights.ts';
import { sampled } from '../../../model/support/sample.ts';

/** A refresh has a missing asset at the place of its id, a diff at the end. */
function byId(rows: readonly Values[]): Values[] {
  return rows.toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));
}

/** Ids come, go, come back, and change their order. */
const nights = [
  { record: firstNight, ids: assetIds },
  { record: secondNight, ids: [...assetIds.slice(110), ...assetIds.slice(0, 100)] },
  { record: thirdNight, ids: assetIds.toSpliced(20, 6) },
];

describe('the changes of a refresh in which every row is stale', () => {
  it.each(sampled([{}, { rename: 'burnt=gone,interface=kind', 'exported-at': true }], 2))(
    'are those of diff and of a plain comparison of the JSONL, night by night: %j',
    async (more) => {
      const { path, remove } = await keptFolder();
      let base = 'none';
      const seen: Record<string, number> = {};
      for (const [night, options] of nights.entries()) {
        const tables = 'assets,creators,files,changes';
        const flags = { ...more, base, 'max-age': '0d', 'missing-after': '0d', tables };
        const out = await exportNight({ ...options, flags, out: join(path, `night-${night}`) });
        const changes = await changesOf(out);
        if (base === 'none') expect(changes).toEqual([]);
        else {
          const diff = join(path, `diff-${night}`);
          const request = { files: localDisk, from: base, to: out, out: diff, memoryBytes: 300e6, ignored };
          await diffExports({ ...request, version: '0' });
          expect(byId(changes)).toEqual(byId(await comparedByHand(base, out)));
          expect(byId(changes)).toEqual(byId(await changesOf(diff)));
          for (const { op, reason } of changes) {
            const kind = `${String(op)} ${String(reason)}`;
            seen[kind] = (seen[kind] ?? 0) + 1;
          }
        }
        base = out;
      }
      await remove();
      expect(seen['update null']).toBeGreaterThan(30);
      expect(seen['insert null']).toBeGreaterThan(15);
      expect(seen['delete unlisted']).toBeGreaterThan(10);
      expect(seen['delete missing']).toBeGreaterThan(1);
    },
  );
});
