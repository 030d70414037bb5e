import { stringify } from 'yaml';
import { type Column, isIdColumn, type Table } from '../../../core/records/table.ts';
import { aboutTable } from '../engine.ts';
import { recordTable } from '../scripts/record-table.ts';
import { validColumns } from '../valid-columns.ts';

const sourceName = 'asset_export';

/**
 * `sources.yml` of dbt for these tables, with tests and the age of the last load.
 * @param isVersions whether they are loaded with scd2: an id then has a row for each version
 */
export function dbtSources(tables: readonly Table[], isVersions: boolean, prefix: string, schema?: string): string {
  const hasAssets = tables.some(({ name }) => name === 'assets');
  const identified = (name: string) => (prefix === '' ? { name } : { name, identifier: prefix + name });
  const described = tables.map((table) => ({
    ...identified(table.name),
    description: aboutTable(table),
    columns: [...table.columns, ...(isVersions ? validColumns : [])].map((column) =>
      dbtColumn(column, testsOf(column, table, { hasAssets, isVersions })),
    ),
  }));
  const loads = {
    name: recordTable.name,
    description: 'One row per table: what it holds since the last load.',
    loaded_at_field: 'at',
    freshness: { warn_after: { count: 26, period: 'hour' }, error_after: { count: 50, period: 'hour' } },
    columns: recordTable.columns.map((column) => dbtColumn(column, [])),
  };
  const source = { name: sourceName, ...(schema === undefined ? {} : { schema }), tables: [...described, loads] };
  return stringify({ version: 2, sources: [source] }, { lineWidth: 0 });
}

function dbtColumn({ name, about }: Column, tests: readonly unknown[]) {
  return { name, description: about, ...(tests.length === 0 ? {} : { data_tests: tests }) };
}

function testsOf(
  column: Column,
  { name, list }: Table,
  { hasAssets, isVersions }: { readonly hasAssets: boolean; readonly isVersions: boolean },
): unknown[] {
  const isKey = name === 'assets' && isIdColumn(column) && !isVersions;
  const isChild = list !== undefined && column.name === 'asset_id' && hasAssets;
  return [
    ...(column.nullable ? [] : ['not_null']),
    ...(isKey ? ['unique'] : []),
    ...(isChild ? [{ relationships: { to: `source('${sourceName}', 'assets')`, field: 'id' } }] : []),
    // The service may send others: they are kept.
    ...(column.values === undefined
      ? []
      : [{ accepted_values: { values: [...column.values], config: { severity: 'warn' } } }]),
  ];
}
