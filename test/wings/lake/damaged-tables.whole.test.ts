import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from '../../support/run-here.ts';
import { sampled } from '../../model/support/sample.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { runNight } from './support/lake-root.ts';

const tables = 'assets,creators';

/** A root with so many nights in its lake, and commands that are typed there. */
async function rootOf(nights: number) {
  const root = await tempFolder();
  for (let day = 0; day < nights; day += 1) await runNight(root, day, { flags: { tables } });
  const version = (table: string, number: number) => join(root, `lake/${table}/metadata/v${number}.metadata.json`);
  const read = async (table: string, number: number) =>
    JSON.parse(await readFile(version(table, number), 'utf8')) as Record<string, unknown>;
  const lake = (...words: string[]) => runHere(['lake', root, ...words]);
  return { root, version, read, lake };
}

/** The commands that a check names, each once. */
function fixesIn(stdout: string): string[] {
  return [...new Set([...stdout.matchAll(/Fix: asset-export (.*)/g)].map(([, words = '']) => words))];
}

describe('a lake whose newest version cannot be read', () => {
  const harms = [
    ['empty', ''],
    ['cut', '{"format-version":2,'],
    ['of something else', '{"format-version":2}'],
  ] as const;
  it.each(sampled(harms, 3))(
    'is rebuilt by the command that is named where that file is %s',
    async (_, bytes) => {
      const { root, version, read, lake } = await rootOf(2);
      const before = await read('assets', 1);
      await writeFile(version('assets', 2), bytes);
      const checked = await lake();
      expect(checked).toMatchObject({ exit: 12, stderr: '' });
      expect(checked.stdout).toContain('assets/metadata/v2.metadata.json is damaged');
      expect(fixesIn(checked.stdout)).toEqual([`lake ${root} --rebuild --yes`]);
      const json = await lake('--json');
      expect(json.exit).toBe(12);
      expect(JSON.parse(json.stdout)).toMatchObject({ exitCode: 12, lake: { creators: {} }, problems: [{}] });
      const publish = await lake('--publish');
      expect(publish).toMatchObject({ exit: 12 });
      expect(publish.stderr).toContain(`asset-export lake ${root} --rebuild --yes`);
      expect(await lake('--rebuild')).toMatchObject({ exit: 0 });
      expect(await lake('--rebuild', '--yes')).toMatchObject({ exit: 0, stderr: '' });
      const after = await read('assets', 3);
      expect(after['table-uuid']).toBe(before['table-uuid']);
      expect(after['schemas']).toEqual(before['schemas']);
      expect(after['metadata-log']).toMatchObject([{ 'metadata-file': version('assets', 1) }]);
      expect(await readFile(version('assets', 2), 'utf8')).toBe(bytes);
      const whole = await lake();
      expect(whole.exit).toBe(0);
      expect(whole.stdout).toContain('assets    v3  2 nights');
      expect(await runNight(root, 2, { flags: { tables } })).toMatchObject({ lake: { assets: {} } });
    },
    60_000,
  );

  it('begins the table anew where no version can be read', async () => {
    const { version, lake } = await rootOf(1);
    for (const table of ['assets', 'creators']) await writeFile(version(table, 1), '');
    expect((await lake()).exit).toBe(12);
    expect(await lake('--rebuild', '--yes')).toMatchObject({ exit: 0 });
    expect(await lake()).toMatchObject({ exit: 0, stdout: expect.stringContaining('assets    v2  1 night') as string });
  }, 60_000);

  it('says that it can be removed where there is no export to write it from either', async () => {
    const { root, version, lake } = await rootOf(1);
    for (const table of ['assets', 'creators']) await writeFile(version(table, 1), '');
    await rm(join(root, 'date=2026-11-20'), { recursive: true });
    const rebuilt = await lake('--rebuild', '--yes');
    expect(rebuilt.exit).toBe(2);
    expect(rebuilt.stderr).toContain(`Remove ${join(root, 'lake')}`);
  }, 60_000);
});
