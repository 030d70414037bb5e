import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { icebergRead } from 'icebird';
import { expect, it } from 'vitest';
import { localDisk, type Disk } from '../../../src/places/files/disk.ts';
import { checkLake, rebuildLake } from '../../../src/wings/lake/index.ts';
import { serviceWith } from '../../support/nights.ts';
import { runRepair } from '../../support/run-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { auditTable } from './support/lake-audit.ts';
import { dayOf, folderOf, idsOfNight, openRoot, recordsOfNight, runNight } from './support/lake-root.ts';
import { serveFolder } from './support/serve-folder.ts';

/** A published night whose first file is damaged; the service has other names for all assets since. */
async function damagedNight() {
  const root = await tempFolder();
  const ids = join(await tempFolder(), 'ids.txt');
  await runNight(root, 0, { idFile: ids, flags: { tables: 'assets,creators', format: 'parquet' } });
  await truncate(join(folderOf(root, 0), 'parquet/assets/part-00000.parquet'), 50);
  await writeFile(
    ids,
    idsOfNight(0)
      .map((id) => `${id}\n`)
      .join(''),
  );
  const longer = (record: string): string => record.replace('"name":"', '"name":"repaired, and longer than before: ');
  const service = await serviceWith(recordsOfNight(0).map(longer));
  const flags = { ids, url: service.url, out: folderOf(root, 0) };
  const repair = (files: Disk = localDisk) => runRepair({ flags, context: { files } });
  return { root, repair, stop: () => service.stop() };
}

async function namesIn(root: string): Promise<string[]> {
  const server = await serveFolder(root);
  try {
    await rebuildLake(openRoot(root), { location: server.url, isDone: true });
    const rows = await icebergRead({ tableUrl: `${server.url}/lake/assets` });
    return rows.map((row) => String(row['content_metadata_name']));
  } finally {
    server.close();
  }
}

// Promise, Nothing misread: A night changed by a repair is read from the lake with its new files
it('a night that a repair gave other content is one snapshot with its new files and sizes', async () => {
  const { root, repair, stop } = await damagedNight();
  expect((await checkLake(openRoot(root))).problems).toHaveLength(1);
  const outcome = await repair();
  await stop();
  expect(outcome).toMatchObject({ after: { damage: [] } });
  expect(outcome.error).toBeUndefined();
  const { tables, problems } = await checkLake(openRoot(root));
  expect(problems).toEqual([]);
  expect(tables).toMatchObject([
    { name: 'creators', version: 2, nights: [dayOf(0)] },
    { name: 'assets', version: 2, nights: [dayOf(0)], rows: 90 },
  ]);
  for (const { name } of tables) expect(await auditTable(openRoot(root).store, name)).toEqual([]);
  const names = await namesIn(root);
  expect(names).toHaveLength(90);
  expect(names.filter((name) => name.startsWith('repaired, and longer')).length).toBeGreaterThan(10);
}, 60_000);

it('a repair whose lake cannot be written says so, and the same repair again has it follow', async () => {
  const { root, repair, stop } = await damagedNight();
  const withoutLinks: Disk = {
    ...localDisk,
    link: async (from, to) => (to.includes('/lake/') ? 'refused' : localDisk.link(from, to)),
  };
  expect(await repair(withoutLinks)).toMatchObject({
    after: { damage: [] },
    parts: [0],
    error: { exit: 'cannotWrite', message: expect.stringContaining('is repaired, and its lake is not') as string },
  });
  expect((await checkLake(openRoot(root))).problems.length).toBeGreaterThan(0);
  expect((await repair()).error).toBeUndefined();
  await stop();
  expect((await checkLake(openRoot(root))).problems).toEqual([]);
}, 60_000);
