import { describe, expect, it } from 'vitest';
import { assetsTable } from '../../../src/core/records/columns.ts';
import { flattenAsset } from '../../../src/core/records/flatten-asset.ts';
import type { Cell } from '../../../src/core/records/table.ts';
import { hasRealRecords, parseObject, realRecordTexts } from './any-json.ts';

/** The cells that are not null, by column, and the drift as `kind path`. */
function flat(text: string): { cells: Record<string, Cell>; drift: string[] } {
  const { row, drift } = flattenAsset(parseObject(text));
  expect(row).toHaveLength(assetsTable.columns.length);
  const cells: Record<string, Cell> = {};
  for (const [index, column] of assetsTable.columns.entries()) {
    const cell = row[index];
    if (cell !== undefined && cell !== null) cells[column.name] = cell;
  }
  return { cells, drift: drift.map(({ kind, path }) => `${kind} ${path}`) };
}

describe('flattenAsset', () => {
  it('fills a column from each member that the specification names', () => {
    const { cells, drift } = flat(`{
      "interface":"V1_NFT","id":"A1",
      "content":{"$schema":"s","json_uri":"","files":[{"uri":"u","mime":"m"}],
        "metadata":{"name":"N","symbol":"S","description":"D","attributes":[{"trait_type":"t","value":1.0}],"token_standard":"x"},
        "links":{"image":"i"}},
      "authorities":[{"address":"a","scopes":["full"]}],
      "ownership":{"owner":"o","frozen":false,"delegated":true,"delegate":"d","ownership_model":"single"},
      "compression":{"eligible":true,"compressed":false,"data_hash":"","creator_hash":"c","asset_hash":"h","tree":"t","seq":1,"leaf_id":2},
      "royalty":{"royalty_model":"creators","target":null,"percent":0.030000000000000002,"basis_points":300,"primary_sale_happened":true,"locked":false},
      "creators":[{"address":"c","share":100,"verified":true}],
      "grouping":[{"group_key":"other","group_value":"no"},{"group_key":"collection","group_value":"K"}],
      "uses":{"use_method":"burn","remaining":1,"total":2},
      "supply":{"print_max_supply":0,"print_current_supply":3,"edition_nonce":255},
      "mutable":true,"burnt":false,
      "token_info":{"supply":18446744073709551615,"decimals":6,"token_program":"p","mint_authority":"m","freeze_authority":"f"}}`);
    expect(cells).toEqual({
      id: 'A1',
      interface: 'V1_NFT',
      content_schema: 's',
      content_json_uri: '',
      content_files: '[{"uri":"u","mime":"m"}]',
      content_metadata_name: 'N',
      content_metadata_symbol: 'S',
      content_metadata_description: 'D',
      content_metadata_attributes: '[{"trait_type":"t","value":1.0}]',
      content_metadata_token_standard: 'x',
      content_links: '{"image":"i"}',
      authorities: '[{"address":"a","scopes":["full"]}]',
      ownership_owner: 'o',
      ownership_frozen: false,
      ownership_delegated: true,
      ownership_delegate: 'd',
      ownership_ownership_model: 'single',
      compression_eligible: true,
      compression_compressed: false,
      compression_data_hash: '',
      compression_creator_hash: 'c',
      compression_asset_hash: 'h',
      compression_tree: 't',
      compression_seq: 1,
      compression_leaf_id: 2,
      royalty_royalty_model: 'creators',
      royalty_percent: 0.030000000000000002,
      royalty_basis_points: 300,
      royalty_primary_sale_happened: true,
      royalty_locked: false,
      creators: '[{"address":"c","share":100,"verified":true}]',
      grouping: '[{"group_key":"other","group_value":"no"},{"group_key":"collection","group_value":"K"}]',
      collection: 'K',
      uses_use_method: 'burn',
      uses_remaining: 1,
      uses_total: 2,
      supply_print_max_supply: 0,
      supply_print_current_supply: 3,
      supply_edition_nonce: 255,
      mutable: true,
      burnt: false,
      token_info_supply: 18446744073709551615n,
      token_info_decimals: 6,
      token_info_token_program: 'p',
      token_info_mint_authority: 'm',
      token_info_freeze_authority: 'f',
    });
    expect(drift).toEqual([]);
  });

  it('keeps unknown fields in extra under their path and counts each once', () => {
    expect(
      flat('{"id":"A","content":{"x":{"y":[1,{"z":2}]},"metadata":{"w":1e400}},"plugins":{},"burnt":true}'),
    ).toEqual({
      cells: { id: 'A', burnt: true, extra: '{"content":{"x":{"y":[1,{"z":2}]},"metadata":{"w":1e400}},"plugins":{}}' },
      drift: ['unknownField content.x', 'unknownField content.metadata.w', 'unknownField plugins'],
    });
  });

  it('takes null members as absent', () => {
    expect(flat('{"id":"A","supply":null,"inscription":null,"content":{"files":null,"links":{"a":null}}}')).toEqual({
      cells: { id: 'A', content_links: '{"a":null}' },
      drift: [],
    });
  });

  it('leaves {} in extra for an object without a trace in the columns', () => {
    expect(flat('{"id":"A","content":{"metadata":{}},"supply":{"edition_nonce":null},"uses":{"total":1}}')).toEqual({
      cells: { id: 'A', uses_total: 1, extra: '{"content":{"metadata":{}},"supply":{}}' },
      drift: [],
    });
  });

  it('keeps unknown values of open lists in their columns and counts them', () => {
    expect(
      flat('{"id":"A","interface":"MplCoreAsset","royalty":{"royalty_model":"x"},"uses":{"use_method":"Burn"}}'),
    ).toEqual({
      cells: { id: 'A', interface: 'MplCoreAsset', royalty_royalty_model: 'x', uses_use_method: 'Burn' },
      drift: ['unknownValue interface', 'unknownValue royalty.royalty_model', 'unknownValue uses.use_method'],
    });
  });

  it.each([
    ['royalty.percent', '0.0', 0],
    ['royalty.percent', '1e2', 100],
    ['royalty.percent', '-0', -0],
    ['royalty.percent', '-0.0', -0],
    ['royalty.percent', '5e-324', 5e-324],
    ['royalty.percent', '0.10000', 0.1],
    ['compression.seq', '5.0', 5],
    ['compression.seq', '12e2', 1200],
    ['compression.seq', '9007199254740991', 9007199254740991],
    ['compression.seq', '9007199254740992', 9007199254740992n],
    ['compression.seq', '9007199254740993', 9007199254740993n],
    ['compression.seq', '9223372036854775807', 9223372036854775807n],
    ['compression.seq', '-9223372036854775808', -9223372036854775808n],
    ['compression.seq', '1e18', 1000000000000000000n],
    ['compression.seq', '-0', 0],
    ['compression.seq', '-0.0', 0],
    ['token_info.supply', '0', 0],
    ['token_info.supply', '-0', 0],
    ['token_info.supply', '-0e3', 0],
    ['token_info.supply', '10000000000000000000', 10000000000000000000n],
    ['token_info.supply', '18446744073709551615', 18446744073709551615n],
  ])('takes %s %s exactly', (path, number, cell) => {
    const [parent = '', name = ''] = path.split('.');
    const { cells, drift } = flat(`{"id":"A","${parent}":{"${name}":${number}}}`);
    expect(cells).toEqual({ id: 'A', [`${parent}_${name}`]: cell });
    expect(Object.is(cells[`${parent}_${name}`], cell)).toBe(true);
    expect(drift).toEqual([]);
  });

  it.each([
    ['royalty.percent', ['1e400', '0.1234567890123456789', '1e-400', '"0.5"', '[]', 'true', '9007199254740993']],
    [
      'compression.seq',
      ['9223372036854775808', '-9223372036854775809', '1.5', '1e-1', '1e400', '"1"', '{}', '9'.repeat(50)],
    ],
    ['token_info.supply', ['-1', '18446744073709551616', '18446744073709552000', '1e20', '0.5', '"5"', 'false']],
    ['content.json_uri', ['1', 'false', '{}', '["a"]', '1.0']],
    ['ownership.frozen', ['"true"', '0', '{}']],
    ['ownership', ['"x"', '[]', '[{"owner":"o"}]', '1.0', 'true']],
    ['content.metadata', ['"x"', '[]', '0']],
    // Promise, Nothing misread: A value that does not fit its column is null there, kept and counted
  ])('keeps in extra what the column of %s cannot hold', (path, values) => {
    for (const value of values) {
      const [parent = '', name] = path.split('.');
      const left = name === undefined ? `{"${parent}":${value}}` : `{"${parent}":{"${name}":${value}}}`;
      expect(flat(`{"id":"A",${left.slice(1)}`)).toEqual({
        cells: { id: 'A', extra: left },
        drift: [`misfit ${path}`],
      });
    }
  });

  it('writes odd names in paths so that they are safe to print', () => {
    const { drift } = flat(String.raw`{"id":"A","a.b":1,"":2,"\u001b[31m":3,"content":{"x y":4}}`);
    expect(drift).toEqual([
      'unknownField ["a.b"]',
      'unknownField [""]',
      String.raw`unknownField ["\u001b[31m"]`,
      'unknownField content["x y"]',
    ]);
    const long = flat(`{"id":"A","${'x'.repeat(1_000_000)}":1}`).drift[0] ?? '';
    expect(long.length).toBeLessThan(220);
  });

  it.each(['{}', '{"id":null}', '{"id":1}', '{"id":1.0}', '{"id":{}}'])(
    'refuses a record without an id: %s',
    (text) => {
      expect(() => flattenAsset(parseObject(text))).toThrow(TypeError);
    },
  );

  it.skipIf(!hasRealRecords)('finds the fields of real records where they are known to be', () => {
    for (const text of realRecordTexts()) {
      const { cells, drift } = flat(text);
      expect(cells.id).toBe(parseObject(text).id);
      expect(drift.filter((entry) => entry.startsWith('misfit'))).toEqual([]);
    }
  });
});
