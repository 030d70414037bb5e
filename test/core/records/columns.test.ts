import { describe, expect, it } from 'vitest';
import { assetsTable, changesTable, tableByName, tableNames, tables } from '../../../src/core/records/columns.ts';

describe('the column table', () => {
  it('names the tables of the contract', () => {
    expect(tableNames).toEqual([
      'assets',
      'creators',
      'authorities',
      'grouping',
      'collections',
      'files',
      'attributes',
      'changes',
    ]);
    for (const table of [...tables, changesTable]) expect(tableByName(table.name)).toBe(table);
    expect(tableByName('nothing')).toBeUndefined();
    expect(tableByName('constructor')).toBeUndefined();
  });

  it.each([...tables, changesTable].map((table) => [table.name, table] as const))(
    'gives %s names that any warehouse takes',
    (_, table) => {
      const names = table.columns.map((column) => column.name);
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
      for (const column of table.columns) expect(column.about).toMatch(/^[A-Z].*\.$/);
    },
  );

  it('lets every cell be null but what identifies the row', () => {
    for (const table of tables) {
      const required = table.columns.filter((column) => !column.nullable).map((column) => column.name);
      expect(required).toEqual(table === assetsTable ? ['id'] : ['asset_id', 'position']);
      expect(table.columns.at(-1)).toMatchObject({ name: 'extra', type: 'json' });
    }
  });

  it('names the columns of assets by their paths, in the order of the specification', () => {
    expect(assetsTable.columns.map((column) => column.name)).toEqual([
      ...['id', 'interface', 'content_schema', 'content_json_uri', 'content_files', 'content_metadata_name'],
      ...['content_metadata_symbol', 'content_metadata_description', 'content_metadata_attributes'],
      ...['content_metadata_token_standard', 'content_links', 'authorities', 'ownership_owner', 'ownership_frozen'],
      ...['ownership_delegated', 'ownership_delegate', 'ownership_ownership_model', 'compression_eligible'],
      ...['compression_compressed', 'compression_data_hash', 'compression_creator_hash', 'compression_asset_hash'],
      ...['compression_tree', 'compression_seq', 'compression_leaf_id', 'royalty_royalty_model', 'royalty_target'],
      ...['royalty_percent', 'royalty_basis_points', 'royalty_primary_sale_happened', 'royalty_locked', 'creators'],
      ...['grouping', 'collection', 'uses_use_method', 'uses_remaining', 'uses_total', 'supply_print_max_supply'],
      ...['supply_print_current_supply', 'supply_edition_nonce', 'mutable', 'burnt', 'token_info_supply'],
      ...[
        'token_info_decimals',
        'token_info_token_program',
        'token_info_mint_authority',
        'token_info_freeze_authority',
      ],
      'extra',
    ]);
    for (const column of assetsTable.columns) {
      if (column.path.length > 0) expect(column.name).toBe(column.path.join('_').replace('$', ''));
    }
  });

  it('holds u64 amounts as decimals, fractions as doubles, counts as integers', () => {
    const byType = (type: string): string[] =>
      assetsTable.columns.filter((column) => column.type === type).map((column) => column.name);
    expect(byType('decimal')).toEqual(['token_info_supply']);
    expect(byType('double')).toEqual(['royalty_percent']);
    expect(byType('int64')).toEqual([
      'compression_seq',
      'compression_leaf_id',
      'royalty_basis_points',
      'uses_remaining',
      'uses_total',
      'supply_print_max_supply',
      'supply_print_current_supply',
      'supply_edition_nonce',
      'token_info_decimals',
    ]);
    expect(byType('json')).toEqual([
      'content_files',
      'content_metadata_attributes',
      'content_links',
      'authorities',
      'creators',
      'grouping',
      'extra',
    ]);
  });
});
