import type { Table } from '../../../core/records/table.ts';
import { escapedBackQuoted, doubleQuoted, escapedLiteral, literal } from '../../../lib/sql-text.ts';
import { clickhouseFiles } from '../clickhouse.ts';
import type { NightsAddress } from './nights-address.ts';

/** Warehouses that load files, and read them in place too. */
export const viewNames = ['duckdb', 'clickhouse', 'bigquery'] as const;

/** A view, or external table, over the Parquet files of one export. @param files their folder */
export function wholeView(name: (typeof viewNames)[number], table: Table, files: string): string {
  if (name === 'duckdb') {
    return `CREATE OR REPLACE VIEW ${doubleQuoted(table.name)} AS
SELECT * FROM read_parquet(${literal(`${files}*.parquet`)}, hive_partitioning = false);
`;
  }
  if (name === 'clickhouse') {
    return `CREATE OR REPLACE VIEW ${escapedBackQuoted(table.name)} AS\nSELECT * FROM ${clickhouseFiles(table, `${files}*.parquet`)};\n`;
  }
  return `CREATE OR REPLACE EXTERNAL TABLE ${escapedBackQuoted(table.name)}
OPTIONS (format = 'PARQUET', enable_list_inference = true, uris = [${escapedLiteral(`${files}part-*`)}]);
`;
}

/**
 * A view over every night, with the column `day`. BigQuery has none: its addresses take one asterisk.
 * @param files the folder of the table in a night
 */
export function nightsView(
  name: 'duckdb' | 'clickhouse',
  table: Table,
  { root, folders }: NightsAddress,
  files: string,
): string {
  const [before = '', after = ''] = folders.split('*');
  const place = `/${regexOf(before)}([^/]+)${regexOf(after)}/${files}`;
  const all = `${root}/${folders}/${files}*.parquet`;
  if (name === 'duckdb') {
    return `CREATE OR REPLACE VIEW ${doubleQuoted(table.name)} AS
SELECT * EXCLUDE (filename), regexp_extract(filename, ${literal(place)}, 1) AS "day"
FROM read_parquet(${literal(all)}, hive_partitioning = false, union_by_name = true, filename = true);
`;
  }
  return `CREATE OR REPLACE VIEW ${escapedBackQuoted(table.name)} AS
SELECT *, extract(_path, ${escapedLiteral(place)}) AS \`day\`
FROM ${clickhouseFiles(table, all)};
`;
}

function regexOf(text: string): string {
  return text.replaceAll(/[.+?^$()[\]{}|\\]/g, '\\$&');
}
