import { expect, it } from 'vitest';
import { rebuildLake } from '../../../src/wings/lake/index.ts';
import { readAvro } from '../../../src/wings/lake/avro/read-avro.ts';
import { LakeTable } from '../../../src/wings/lake/lake-table.ts';
import { snapshotOf } from '../../../src/wings/lake/table-metadata.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { manifestsOfSnapshot } from './support/lake-audit.ts';
import { dayOf, openRoot, runNight } from './support/lake-root.ts';

/** What the manifest of the last night that `changes` took says of its files. */
async function filesOfLastNight(root: string, day: number) {
  const table = new LakeTable(openRoot(root), 'changes');
  const snapshot = snapshotOf((await table.newest())?.metadata ?? fail(), dayOf(day)) ?? fail();
  const manifests = await manifestsOfSnapshot(table, snapshot);
  const own = manifests.find((each) => each.added_snapshot_id === snapshot['snapshot-id']) ?? fail();
  const name = own.manifest_path.slice(own.manifest_path.lastIndexOf('/') + 1);
  return readAvro(await table.files.read(name), name).records.map((record) => record['data_file']);
}

it('a late night of changes has the statistics of its own columns, though a newer night exchanged their names', async () => {
  const root = await tempFolder();
  const flags = { tables: 'assets,changes' };
  const exchanged = 'royalty_basis_points=compression_seq,compression_seq=royalty_basis_points';
  await runNight(root, 0, { flags });
  await runNight(root, 2, { flags: { ...flags, rename: exchanged } });
  await runNight(root, 1, { flags: { ...flags, base: `${root}/date=${dayOf(0)}` } });
  const late = await filesOfLastNight(root, 1);
  expect(late.length).toBeGreaterThan(0);
  await rebuildLake(openRoot(root), { location: undefined, isDone: true });
  expect(late).toEqual(await filesOfLastNight(root, 1));
}, 60_000);

function fail(): never {
  throw new Error('it is absent');
}
