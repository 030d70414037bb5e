import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { tables } from '../../../../src/core/records/columns.ts';
import { dbtSources } from '../../../../src/wings/warehouse/analysts/dbt-sources.ts';

interface Sources {
  readonly version: number;
  readonly sources: readonly {
    readonly name: string;
    readonly schema?: string;
    readonly tables: readonly {
      readonly name: string;
      readonly identifier?: string;
      readonly description: string;
      readonly loaded_at_field?: string;
      readonly freshness?: unknown;
      readonly columns: readonly {
        readonly name: string;
        readonly description: string;
        readonly data_tests?: unknown[];
      }[];
    }[];
  }[];
}

const read = (isVersions: boolean, prefix = '', schema?: string) =>
  (parse(dbtSources(tables, isVersions, prefix, schema)) as Sources).sources[0];

describe('sources.yml', () => {
  it('names every column of every table once, with a description', () => {
    const source = read(false, 'nft_', 'raw');
    expect(source).toMatchObject({ name: 'asset_export', schema: 'raw' });
    for (const { name, columns } of tables) {
      const found = source?.tables.filter((table) => table.name === name) ?? [];
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({ identifier: `nft_${name}`, description: /\w/ });
      expect(found[0]?.columns.map((column) => column.name)).toEqual(columns.map((column) => column.name));
      expect(found[0]?.columns.map((column) => column.description)).toEqual(columns.map((column) => column.about));
    }
    expect(source?.tables.at(-1)).toMatchObject({
      name: '_asset_export_loads',
      loaded_at_field: 'at',
      freshness: { warn_after: { count: 26, period: 'hour' }, error_after: { count: 50, period: 'hour' } },
    });
  });

  const testsOf = (isVersions: boolean, table: string, column: string): unknown =>
    read(isVersions)
      ?.tables.find(({ name }) => name === table)
      ?.columns.find(({ name }) => name === column)?.data_tests;

  it('tests keys, children and known values', () => {
    expect(testsOf(false, 'assets', 'id')).toEqual(['not_null', 'unique']);
    expect(testsOf(true, 'assets', 'id')).toEqual(['not_null']);
    expect(testsOf(true, 'assets', 'valid_from')).toEqual(['not_null']);
    expect(testsOf(false, 'creators', 'asset_id')).toEqual([
      'not_null',
      { relationships: { to: "source('asset_export', 'assets')", field: 'id' } },
    ]);
    expect(testsOf(false, 'assets', 'uses_use_method')).toEqual([
      { accepted_values: { values: ['burn', 'multiple', 'single'], config: { severity: 'warn' } } },
    ]);
  });
});
