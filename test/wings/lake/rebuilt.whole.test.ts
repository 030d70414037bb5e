import { readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from '../../support/run-here.ts';
import { sampled } from '../../model/support/sample.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { folderOf, runNight } from './support/lake-root.ts';

const tables = 'assets,creators';

async function rootOf(nights: number) {
  const root = await tempFolder();
  for (let day = 0; day < nights; day += 1) await runNight(root, day, { flags: { tables } });
  const lake = (...words: string[]) => runHere(['lake', root, ...words]);
  const inLake = async () => (await readdir(join(root, 'lake'), { recursive: true })).sort();
  return { root, lake, inLake };
}

describe('a night of which a part', () => {
  const part = 'parquet/assets/part-00000.parquet';

  const harms = [
    ['is missing', 'does not exist', (file: string) => rm(file)],
    ['is cut', 'has 50 bytes, not', (file: string) => truncate(file, 50)],
    ['is no Parquet file', 'is damaged', (file: string, bytes: number) => writeFile(file, Buffer.alloc(bytes))],
  ] as const;
  it.each(sampled(harms, 3))(
    '%s has a rebuild write nothing, and name part and command',
    async (_, what, harm) => {
      const { root, lake, inLake } = await rootOf(2);
      const file = join(folderOf(root, 1), part);
      await harm(file, (await stat(file)).size);
      const before = await inLake();
      for (const words of [['--rebuild'], ['--rebuild', '--yes']]) {
        const { exit, stdout, stderr } = await lake(...words);
        expect({ exit, stdout }).toEqual({ exit: 12, stdout: '' });
        expect(stderr).toContain(`${file} ${what}`);
        expect(stderr).toContain(`asset-export verify ${folderOf(root, 1)} --repair`);
      }
      expect(await inLake()).toEqual(before);
    },
    60_000,
  );

  it('is named with all others, of all nights', async () => {
    const { root, lake } = await rootOf(2);
    const parts = [0, 1].flatMap((day) =>
      ['assets/part-00000', 'assets/part-00001', 'creators/part-00000'].map((file) =>
        join(folderOf(root, day), `parquet/${file}.parquet`),
      ),
    );
    for (const file of parts) await rm(file);
    const { exit, stderr } = await lake('--rebuild', '--yes');
    expect(exit).toBe(12);
    for (const file of parts) expect(stderr).toContain(`${file} does not exist`);
    for (const day of [0, 1]) expect(stderr).toContain(`asset-export verify ${folderOf(root, day)} --repair`);
  }, 60_000);

  it('is missing is named by the run that would publish it', async () => {
    const { root } = await rootOf(1);
    await runNight(root, 1, { flags: { tables, lake: 'none' } });
    await rm(join(folderOf(root, 1), part));
    const { error } = await runNight(root, 2, { flags: { tables, base: 'none' } });
    expect(error).toMatchObject({
      exit: 'damaged',
      message: expect.stringContaining(`${join(folderOf(root, 1), part)} does not exist`) as string,
      todo: expect.stringContaining(`asset-export verify ${folderOf(root, 1)} --repair`) as string,
    });
  }, 60_000);
});

describe('a lake whose nights were removed by hand', () => {
  it('is rebuilt to no night by the command that is named, and takes the next run', async () => {
    const { root, lake } = await rootOf(1);
    await rm(folderOf(root, 0), { recursive: true });
    const checked = await lake();
    expect(checked.exit).toBe(12);
    expect(checked.stdout).toContain(`Fix: asset-export lake ${root} --rebuild --yes`);
    expect(await lake('--rebuild')).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('would write 2 tables of 0 nights anew') as string,
    });
    expect(await lake('--rebuild', '--yes')).toMatchObject({ exit: 0, stderr: '' });
    expect(await lake()).toMatchObject({ exit: 0, stderr: '' });
    expect(await runNight(root, 1, { flags: { tables, base: 'none' } })).toMatchObject({ lake: { assets: {} } });
    expect(await lake()).toMatchObject({ exit: 0, stdout: expect.stringContaining('assets    v3  1 night') as string });
  }, 60_000);
});

it('a table that no night has any more is named by the check', async () => {
  const { root, lake } = await rootOf(1);
  await runNight(root, 1, { flags: { tables: 'assets', base: 'none' } });
  expect((await lake()).stdout).not.toContain('Without a night');
  await rm(folderOf(root, 0), { recursive: true });
  expect(await lake('--rebuild', '--yes')).toMatchObject({ exit: 0 });
  const { exit, stdout } = await lake();
  expect(exit).toBe(0);
  expect(stdout).toContain('\nWithout a night: creators. No night in the lake has this table any more.\n');
}, 60_000);
