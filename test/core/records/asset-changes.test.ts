import { describe, expect, it } from 'vitest';
import { blockPair, cellPair, compareAssets } from '../../../src/core/records/asset-changes.ts';
import { assetsTable, fetchedAt } from '../../../src/core/records/columns.ts';
import { blockOf } from '../../../src/core/records/row-block.ts';
import { exportedAt } from '../../../src/core/records/shape-table.ts';
import type { Cell, NamedRow } from '../../../src/core/records/table.ts';

const columns = [...assetsTable.columns, fetchedAt, exportedAt];
const ignored = ['extra.token_info.price_info', 'extra.last_indexed_slot', 'mutable'];

/** The names of the columns in which two rows differ, by cells and by blocks. */
function changed(before: NamedRow, after: NamedRow): string[][] {
  const [old, now] = [before, after].map((row) => columns.map(({ name }): Cell => row[name] ?? null));
  const compare = compareAssets(columns, ignored);
  const block = blockOf(columns, [old ?? [], now ?? []]);
  const pairs = [cellPair(old ?? [], now ?? []), blockPair({ block, row: 0 }, { block, row: 1 })];
  return pairs.map((pair) => compare(pair).map((place) => columns[place]?.name ?? ''));
}

describe('two rows of assets', () => {
  it.each<[NamedRow, NamedRow, string[]]>([
    [{ burnt: true, interface: 'a' }, { burnt: false, interface: 'b' }, ['interface', 'burnt']],
    [{ interface: '' }, {}, ['interface']],
    [{ royalty_percent: 0 }, { royalty_percent: -0 }, ['royalty_percent']],
    [{ token_info_supply: 1n << 63n }, { token_info_supply: 1n << 63n }, []],
    [{ fetched_at: 1, exported_at: 1, mutable: true }, { fetched_at: 2, exported_at: 2, mutable: false }, []],
    [{ extra: '{"a":1.0}' }, { extra: '{"a":1}' }, ['extra']],
    [{ extra: '{"token_info":{"price_info":1},"last_indexed_slot":3}' }, {}, []],
    [{ extra: '{"token_info":{"price_info":1}}' }, { extra: '{"token_info":{}}' }, []],
    [{ extra: '{"token_info":{"price_info":1,"b":2}}' }, { extra: '{"token_info":{"b":2}}' }, []],
    [{ extra: '{"token_info":{"price_info":1,"b":2}}' }, { extra: '{"token_info":{"b":3}}' }, ['extra']],
    [{ extra: '{"token_info":7}' }, {}, ['extra']],
  ])('differ alike in both forms: %o, %o', (before, after, names) => {
    expect(changed(before, after)).toEqual([names, names]);
  });
});
