import { describe, expect, it } from 'vitest';
import { LakeTable } from '../../../src/wings/lake/lake-table.ts';
import { addNight, rebuildTable, removeNights } from '../../../src/wings/lake/table-changes.ts';
import { currentSnapshot, nightOf, nightsOf, snapshotOf } from '../../../src/wings/lake/table-metadata.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { auditTable, filesByNight } from './support/lake-audit.ts';
import { aboutAssets, aboutChanges, root, smallChanges, smallNight } from './support/small-nights.ts';

const clock = { now: () => Date.UTC(2026, 10, 25) };

function newTable(name: 'assets' | 'changes') {
  const objects = new MemoryObjects();
  const store = objects.open();
  return { objects, store, table: new LakeTable({ root, store, clock }, name) };
}

const partsOf = (night: string, table = 'assets') =>
  [0, 1].map((part) => `${root}/date=${night}/parquet/${table}/part-0000${part}.parquet`);

describe('a table of states', () => {
  it('has a snapshot and a tag for each night, and the newest one is current', async () => {
    const { store, table } = newTable('assets');
    for (const night of ['2026-11-20', '2026-11-21']) await addNight(table, smallNight(night), aboutAssets);
    const newest = await table.newest();
    const metadata = newest?.metadata;
    expect(newest?.version).toBe(2);
    expect(metadata && nightsOf(metadata).map(({ night }) => night)).toEqual(['2026-11-20', '2026-11-21']);
    expect(metadata && nightOf(currentSnapshot(metadata) ?? fail())?.night).toBe('2026-11-21');
    expect(metadata?.snapshots.map(({ summary }) => summary['operation'])).toEqual(['append', 'overwrite']);
    expect(metadata?.properties).toMatchObject({ 'gc.enabled': 'false', 'asset-export.pattern': 'date={date}' });
    expect(await filesByNight(table, newest ?? fail())).toEqual(
      new Map([
        ['2026-11-20', partsOf('2026-11-20')],
        ['2026-11-21', partsOf('2026-11-21')],
      ]),
    );
    expect(await auditTable(store, 'assets')).toEqual([]);
  });

  it('gives two nights of equal content two snapshots', async () => {
    const { table } = newTable('assets');
    await addNight(table, smallNight('2026-11-20', 'same'), aboutAssets);
    const newest = await addNight(table, smallNight('2026-11-21', 'same'), aboutAssets);
    expect(new Set(newest?.metadata.snapshots.map((each) => each['snapshot-id'])).size).toBe(2);
  });

  it('writes nothing for a night that is there', async () => {
    const { objects, table } = newTable('assets');
    await addNight(table, smallNight('2026-11-20'), aboutAssets);
    const before = [...objects.objects.keys()];
    await addNight(table, smallNight('2026-11-20'), aboutAssets);
    expect([...objects.objects.keys()]).toEqual(before);
  });

  it('tags an older night, and stays with the newer one', async () => {
    const { store, table } = newTable('assets');
    for (const night of ['2026-11-21', '2026-11-20']) await addNight(table, smallNight(night), aboutAssets);
    const metadata = (await table.newest())?.metadata ?? fail();
    expect(nightOf(currentSnapshot(metadata) ?? fail())?.night).toBe('2026-11-21');
    expect(metadata.refs['2026-11-20']?.['snapshot-id']).toBe(snapshotOf(metadata, '2026-11-20')?.['snapshot-id']);
    expect(await auditTable(store, 'assets')).toEqual([]);
  });

  it('puts what a night holds now in place of what it held', async () => {
    const { store, table } = newTable('assets');
    for (const night of ['2026-11-20', '2026-11-21']) await addNight(table, smallNight(night), aboutAssets);
    const newest = await addNight(table, smallNight('2026-11-21', 'repaired'), aboutAssets);
    const metadata = newest?.metadata ?? fail();
    expect(nightsOf(metadata)).toHaveLength(2);
    expect(currentSnapshot(metadata)).toEqual(snapshotOf(metadata, '2026-11-21'));
    expect(nightOf(currentSnapshot(metadata) ?? fail())?.seal).toBe(smallNight('2026-11-21', 'repaired').seal);
    expect(newest?.version).toBe(3);
    expect(await auditTable(store, 'assets')).toEqual([]);
  });

  it('goes back to the newest night that is left, and to none', async () => {
    const { store, table } = newTable('assets');
    for (const night of ['2026-11-20', '2026-11-21']) await addNight(table, smallNight(night), aboutAssets);
    const left = await removeNights(table, new Set(['2026-11-21']));
    expect(nightOf(currentSnapshot(left?.metadata ?? fail()) ?? fail())?.night).toBe('2026-11-20');
    expect(await auditTable(store, 'assets')).toEqual([]);
    const none = await removeNights(table, new Set(['2026-11-20']));
    expect(none?.metadata).toMatchObject({ 'current-snapshot-id': -1, refs: {}, snapshots: [] });
    const again = await addNight(table, smallNight('2026-11-22'), aboutAssets);
    expect(again?.version).toBe(5);
    expect(await auditTable(store, 'assets')).toEqual([]);
  });

  it('is made anew elsewhere, and keeps its uuid, its snapshot ids and their times', async () => {
    const { store, table } = newTable('assets');
    for (const night of ['2026-11-20', '2026-11-21']) await addNight(table, smallNight(night), aboutAssets);
    const before = (await table.newest())?.metadata ?? fail();
    const moved = { ...aboutAssets, location: 's3://readers/lake/assets', ownLocation: 's3://readers' };
    const nights = ['2026-11-20', '2026-11-21', '2026-11-22'].map((night) => smallNight(night));
    const after = (await rebuildTable(table, nights, moved))?.metadata ?? fail();
    expect(after['table-uuid']).toBe(before['table-uuid']);
    expect(after.location).toBe('s3://readers/lake/assets');
    expect(after.properties['asset-export.location']).toBe('s3://readers');
    for (const snapshot of before.snapshots) {
      const same = after.snapshots.find((each) => each['snapshot-id'] === snapshot['snapshot-id']);
      expect(same?.['timestamp-ms']).toBe(snapshot['timestamp-ms']);
      expect(same?.['sequence-number']).toBeGreaterThan(snapshot['sequence-number']);
    }
    expect(await auditTable(store, 'assets')).toEqual([]);
  });

  it('names only versions that prune keeps: 100 with its own', async () => {
    const { table } = newTable('assets');
    for (let n = 0; n < 103; n += 1) await rebuildTable(table, [], aboutAssets);
    const { version, metadata } = (await table.newest()) ?? fail();
    expect(version).toBe(103);
    const named = metadata['metadata-log'].map((each) => each['metadata-file']);
    expect(named).toHaveLength(99);
    expect(named[0]).toBe(`${root}/lake/assets/metadata/v4.metadata.json`);
  });
});

describe('the table of changes', () => {
  it('holds the rows of all nights', async () => {
    const { store, table } = newTable('changes');
    for (const night of ['2026-11-20', '2026-11-21']) await addNight(table, smallChanges(night), aboutChanges);
    const newest = (await table.newest()) ?? fail();
    const files = await filesByNight(table, newest);
    expect(files.get('2026-11-20')).toEqual(partsOf('2026-11-20', 'changes'));
    expect(files.get('2026-11-21')).toEqual([...partsOf('2026-11-20', 'changes'), ...partsOf('2026-11-21', 'changes')]);
    expect(currentSnapshot(newest.metadata)?.summary).toMatchObject({ operation: 'append', 'total-records': '42' });
    expect(await auditTable(store, 'changes')).toEqual([]);
  });

  it('loses no rows to a late night', async () => {
    const { store, table } = newTable('changes');
    for (const night of ['2026-11-21', '2026-11-20', '2026-11-22'])
      await addNight(table, smallChanges(night), aboutChanges);
    const newest = (await table.newest()) ?? fail();
    expect((await filesByNight(table, newest)).get('2026-11-22')).toHaveLength(6);
    expect(await auditTable(store, 'changes')).toEqual([]);
  });

  it('names no file of a night that was taken away, in no snapshot', async () => {
    const { store, table } = newTable('changes');
    for (const night of ['2026-11-20', '2026-11-21', '2026-11-22'])
      await addNight(table, smallChanges(night), aboutChanges);
    const newest = (await removeNights(table, new Set(['2026-11-20']))) ?? fail();
    expect(currentSnapshot(newest.metadata)?.summary).toMatchObject({
      operation: 'delete',
      'asset-export.removed': '2026-11-20',
      'total-records': '42',
    });
    const files = await filesByNight(table, newest);
    expect([...files.values()].flat().filter((file) => file.includes('2026-11-20'))).toEqual([]);
    expect(files.get('2026-11-21')).toEqual(partsOf('2026-11-21', 'changes'));
    expect(files.get('removal')).toHaveLength(4);
    await addNight(table, smallChanges('2026-11-23'), aboutChanges);
    await removeNights(table, new Set(['2026-11-21']));
    expect(await auditTable(store, 'changes')).toEqual([]);
    const after = (await table.newest()) ?? fail();
    expect((await filesByNight(table, after)).get('removal')).toHaveLength(4);
    expect(after.metadata.snapshots).toHaveLength(3);
  });

  it('names the new files of a night that was repaired, in all snapshots', async () => {
    const { store, table } = newTable('changes');
    for (const night of ['2026-11-20', '2026-11-21']) await addNight(table, smallChanges(night), aboutChanges);
    const newest = (await addNight(table, smallChanges('2026-11-20', 'repaired'), aboutChanges)) ?? fail();
    expect(newest.version).toBe(3);
    expect((await filesByNight(table, newest)).get('2026-11-20')).toHaveLength(4);
    expect(currentSnapshot(newest.metadata)?.summary['total-records']).toBe('42');
    expect(await auditTable(store, 'changes')).toEqual([]);
  });
});

function fail(): never {
  throw new Error('it is absent');
}
