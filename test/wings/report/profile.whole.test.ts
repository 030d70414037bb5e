import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ColumnProfile, DataProfile } from '../../../src/wings/report/profile/profile-source.ts';
import { sampled } from '../../model/support/sample.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { reportPage } from '../../../src/wings/report/page/page.ts';
import { readPage } from './read-page.ts';
import { allTables, dataOf, idOf, madeExport } from './made-export.ts';

let kept: Awaited<ReturnType<typeof keptFolder>>;
const folders = new Map<string, string>();

beforeAll(async () => {
  kept = await keptFolder();
  for (const format of ['parquet', 'csv', 'jsonl']) {
    const flags = ['--format', format, '--tables', allTables, '--rows-per-part', '4', '--ids-per-call', '4'];
    folders.set(
      format,
      await madeExport({ cwd: kept.path, out: format, flags: [...flags, '--show-collection-metadata'] }),
    );
  }
}, 120_000);

afterAll(() => kept.remove());

async function profileOf(format: string, threads?: number): Promise<DataProfile> {
  const { profile, profileMissing } = await dataOf(folders.get(format) ?? '', { threads });
  if (profile === null) throw new Error(profileMissing ?? 'no profile');
  return profile;
}

function column(profile: DataProfile, table: string, name: string): ColumnProfile | undefined {
  return profile.tables.find((each) => each.name === table)?.columns.find((each) => each.name === name);
}

describe('a profile', () => {
  it('has the columns as they were counted by hand', async () => {
    const profile = await profileOf('parquet');
    expect(profile.parts).toEqual({ read: 3, all: 3 });
    expect(profile.tables.map(({ name, rows }) => [name, rows])).toEqual([
      ['assets', 10],
      ['creators', 3],
      ['authorities', 0],
      ['grouping', 5],
      ['collections', 5],
      ['files', 0],
      ['attributes', 4],
    ]);
    expect(column(profile, 'assets', 'id')).toMatchObject({ filled: 10, distinct: 10, top: [], emptyText: 0 });
    expect(column(profile, 'assets', 'interface')).toMatchObject({
      filled: 10,
      distinct: 3,
      min: 'Custom',
      max: 'V1_NFT',
      longest: 10,
      top: [
        { value: 'V1_NFT', count: 6 },
        { value: 'Custom', count: 3 },
        { value: 'Executable', count: 1 },
      ],
    });
    expect(column(profile, 'assets', 'content_metadata_symbol')).toMatchObject({
      filled: 8,
      emptyText: 3,
      distinct: 2,
    });
    expect(column(profile, 'assets', 'royalty_target')).toMatchObject({ filled: 0, distinct: 0, min: null, top: [] });
    expect(column(profile, 'assets', 'mutable')?.top).toEqual([
      { value: 'true', count: 7 },
      { value: 'false', count: 2 },
    ]);
    const points = column(profile, 'assets', 'royalty_basis_points');
    expect(points).toMatchObject({ filled: 9, distinct: 7, min: '0', max: '5000', isLogarithmic: false });
    expect(points?.bins).toHaveLength(24);
    expect(points?.bins.flatMap(({ count }, bin) => (count === 0 ? [] : [[bin, count]]))).toEqual([
      [0, 3],
      [2, 3],
      [4, 2],
      [23, 1],
    ]);
    expect(column(profile, 'creators', 'position')?.bins).toEqual([
      { from: 0, to: 0, count: 2 },
      { from: 1, to: 1, count: 1 },
    ]);
  });

  it('has the cards as they were counted by hand', async () => {
    const { cards } = await profileOf('parquet');
    expect(cards.interfaces).toEqual({
      top: [
        { value: 'V1_NFT', count: 6 },
        { value: 'Custom', count: 3 },
        { value: 'Executable', count: 1 },
      ],
      others: { value: '', values: 0, count: 0 },
      without: 0,
    });
    expect(cards.collections).toMatchObject({
      top: [
        { value: idOf(60), count: 4, name: 'The First' },
        { value: idOf(61), count: 1, name: null },
      ],
      without: 5,
    });
    expect(cards.shares.find(({ name }) => name === 'mutable')).toEqual({ name: 'mutable', yes: 7, no: 2, null: 1 });
    expect(cards.shares.map(({ name }) => name)).toEqual([
      ...['mutable', 'burnt', 'compressed', 'frozen', 'delegated', 'primary sale'],
    ]);
    expect(cards.jsonHosts).toMatchObject({
      top: [
        { value: 'a.example', count: 3 },
        { value: 'b.example:81', count: 1 },
        { value: 'ipfs:', count: 1 },
      ],
      without: 5,
    });
    expect(cards.imageHosts).toMatchObject({ top: [{ value: 'img.example', count: 2 }], without: 8 });
    expect(cards.traits?.top).toEqual([
      {
        value: 'Hat',
        count: 3,
        distinct: 2,
        values: [
          { value: 'Red', count: 2 },
          { value: 'Blue', count: 1 },
        ],
      },
      { value: 'Eyes', count: 1, distinct: 1, values: [{ value: '2', count: 1 }] },
    ]);
    const drawn = cards.royalty?.filter(({ count }) => count > 0);
    expect(drawn).toEqual([
      { label: '0–49', count: 2 },
      { label: '50–99', count: 1 },
      { label: '500–549', count: 3 },
      { label: '950–999', count: 1 },
      { label: '≥ 1,000', count: 2 },
    ]);
    expect(cards.royalty).toHaveLength(21);
    expect(cards.creatorsPerAsset?.map(({ count }) => count)).toEqual([8, 1, 1]);
    expect(cards.attributesPerAsset?.map(({ count }) => count)).toEqual([7, 2, 1]);
    expect(cards.creatorShare?.filter(({ count }) => count > 0)).toEqual([
      { label: '50–59', count: 2 },
      { label: '100', count: 1 },
    ]);
    expect(cards.printSupply).toEqual([
      { label: '0', count: 1 },
      { label: '1–9', count: 0 },
      { label: '10–99', count: 1 },
    ]);
  });

  it('is the same for any number of threads and for every format', async () => {
    const one = await profileOf('parquet', 1);
    expect(await profileOf('parquet', 4)).toEqual(one);
    for (const format of sampled(['csv', 'jsonl'], 2)) {
      expect(await profileOf(format, 4), format).toEqual({ ...one, format });
    }
  });
});

it('reads every k-th part where there are too many rows, and says which share that is', async () => {
  const folder = folders.get('parquet') ?? '';
  const few = await dataOf(folder, { extent: 'parts', mostRows: 24 });
  const { profile } = await dataOf(folder, { mostRows: 24 });
  expect(few.profile).toEqual(profile);
  expect(profile?.parts).toEqual({ read: 2, all: 3 });
  // Parts of 4, 4 and 2 records: the first and the third are read.
  expect(profile?.tables.find(({ name }) => name === 'assets')?.rows).toBe(6);
  expect(readPage(reportPage(few)).text).toContain('from 2 of 3 parts');
  expect((await dataOf(folder, { extent: 'exact', mostRows: 24 })).profile?.parts).toEqual({ read: 3, all: 3 });
});

it('reads all parts where exact is asked for, and none where that is', async () => {
  const folder = folders.get('parquet') ?? '';
  expect((await dataOf(folder, { extent: 'exact' })).profile?.parts).toEqual({ read: 3, all: 3 });
  expect((await dataOf(folder, { extent: 'none' })).profile).toBeNull();
});

it('finds renamed columns, and leaves out cards without one', async () => {
  const flags = ['--format', 'parquet', '--exclude', 'mutable,collection'];
  const folder = await madeExport({ cwd: kept.path, out: 'shaped', flags: [...flags, '--rename', 'interface=kind'] });
  const { profile, profileMissing } = await dataOf(folder);
  expect(profileMissing).toBeNull();
  expect(profile?.cards.interfaces?.top[0]).toEqual({ value: 'V1_NFT', count: 6 });
  expect(profile?.cards).not.toHaveProperty('collections');
  expect(profile?.cards).not.toHaveProperty('creatorsPerAsset');
  expect(profile?.cards.shares.map(({ name }) => name)).not.toContain('mutable');
  expect(profile?.tables[0]?.columns.find(({ name }) => name === 'kind')).toMatchObject({ distinct: 3 });
});
