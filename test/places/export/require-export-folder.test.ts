import { folderPlace } from '../../../src/places/files/folder-place.ts';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requireExportFolder } from '../../../src/places/export/export-folder.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { exportBytes, runExport } from '../../support/run-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function folderWith(...names: readonly string[]): Promise<string> {
  const folder = await tempFolder();
  for (const name of names) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    if (name.endsWith('/')) await mkdir(join(folder, name), { recursive: true });
    else await writeFile(join(folder, name), 'x');
  }
  return folder;
}

describe('the folder of an export', () => {
  it.each([
    ['is absent', ['../nothing/']],
    ['is empty', []],
    ['holds hidden files and the folder of a new volume', ['.gitkeep', '.DS_Store', 'lost+found/x']],
    ['holds the empty folders of an export that --fresh threw away', ['csv/assets/', 'unexported/']],
    ['holds an unfinished export', ['.run/start.json', 'csv/assets/part-00000.csv']],
    ['is held by a run that only begins', ['.run/lock']],
    ['holds a finished export', ['manifest.json', 'csv/assets/part-00000.csv', 'notes.txt']],
  ])('is taken when it %s', async (_, names) => {
    const folder = await folderWith(...names);
    await expect(requireExportFolder(folderPlace(localDisk, folder), folder)).resolves.toBeUndefined();
    await expect(requireExportFolder(folderPlace(localDisk, join(folder, 'none')), 'none')).resolves.toBeUndefined();
  });

  it.each([[['notes.txt']], [['parquet/assets/part-00000.parquet']], [['.run/ledger/x', 'package.json']]])(
    'is refused when it holds files and no export: %j',
    async (names) => {
      const folder = await folderWith(...names);
      await expect(requireExportFolder(folderPlace(localDisk, folder), folder)).rejects.toMatchObject({
        exit: 'usage',
        message: `${folder} is not an export and not empty: it contains ${names.at(-1) ?? ''}`,
      });
    },
  );
});

describe('a run that is refused before it starts', () => {
  const flags = async (folder: string) => {
    await writeIdFile(join(folder, 'ids.txt'), { entries: 10 });
    return { ids: join(folder, 'ids.txt'), url: 'https://s.example', out: join(folder, 'out') };
  };

  // Promise, Nothing misread: A non-empty folder without an export is refused, with `--fresh` too
  it('leaves a foreign folder as it is, with --fresh too', async () => {
    const given = await flags(await folderWith('out/csv/assets/part-00000.csv'));
    const before = exportBytes(given.out);
    for (const fresh of [false, true])
      await expect(runExport({ flags: given, fresh })).rejects.toMatchObject({ exit: 'usage' });
    expect(exportBytes(given.out)).toEqual(before);
  });

  it.each([
    ['a key that cannot be one', 'The API key contains spaces', {}, 'two keys'],
    ['a run without a call', 'is below the price of one call', { 'credits-per-run': '100' }, 'key'],
    ['a day without a call', 'is below the price of one call', { 'credits-per-day': '100' }, 'key'],
    // Promise, Nothing misread: An error before the start leaves nothing behind
  ])('begins nothing and throws, so that no account is shown: %s', async (...[, words, more, apiKey]) => {
    const given = { ...(await flags(await tempFolder())), ...more };
    const context = { service: { url: given.url, apiKey } };
    await expect(runExport({ flags: given, context })).rejects.toThrow(words);
    expect(await localDisk.sizeOf(given.out)).toBeUndefined();
  });
});
