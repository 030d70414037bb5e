import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { runNight } from './support/lake-root.ts';

const flags = { tables: 'assets,creators', base: 'none' };

/** A root with a night, whose table `assets` another program wrote last. */
async function foreignRoot(): Promise<string> {
  const root = await tempFolder();
  await runNight(root, 0, { flags });
  const folder = join(root, 'lake/assets/metadata');
  const metadata = JSON.parse(await readFile(join(folder, 'v1.metadata.json'), 'utf8')) as { snapshots: object[] };
  const [own = {}] = metadata.snapshots;
  const foreign = { ...own, 'snapshot-id': 7, 'sequence-number': 2, summary: { operation: 'append' } };
  const changed = { ...metadata, 'last-sequence-number': 2, snapshots: [own, foreign] };
  await writeFile(join(folder, 'v2.metadata.json'), JSON.stringify(changed));
  return root;
}

const inLake = async (root: string) => (await readdir(join(root, 'lake'), { recursive: true })).sort();

describe('a lake whose newest snapshot another program wrote', () => {
  it.each(['no night', 'a night'])(
    'is refused by lake --publish where %s is missing, before anything is written',
    async (missing) => {
      const root = await foreignRoot();
      if (missing === 'a night') await runNight(root, 1, { flags: { ...flags, lake: 'none' } });
      const before = await inLake(root);
      const lake = (...words: string[]) => runHere(['lake', root, ...words]);
      const published = await lake('--publish');
      expect(published).toMatchObject({ exit: 2, stdout: '' });
      expect(published.stderr).toContain('of the table assets of the lake was written by another program');
      expect(published.stderr).toContain(`asset-export lake ${root} --rebuild --yes`);
      expect(await inLake(root)).toEqual(before);
      expect((await lake()).exit).toBe(12);
      expect(await lake('--rebuild', '--yes')).toMatchObject({ exit: 0 });
      expect(await lake('--publish')).toMatchObject({ exit: 0 });
      expect(await lake()).toMatchObject({ exit: 0 });
    },
    60_000,
  );

  it('gets no night of a run in any table', async () => {
    const root = await foreignRoot();
    const before = await inLake(root);
    expect(await runNight(root, 1, { flags })).toMatchObject({ state: 'complete', error: { exit: 'usage' } });
    expect(await inLake(root)).toEqual(before);
  }, 60_000);
});
