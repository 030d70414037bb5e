import { assetsTable, changeColumns, changesOf, changesTable } from '../../core/records/columns.ts';
import { type Column, isIdColumn, type Table } from '../../core/records/table.ts';
import { type ChangeStyle, mergeStatements, plainUpdate, scd2Statements, type SetColumn } from './change-statements.ts';
import { backQuoted, doubleQuoted } from '../../lib/sql-text.ts';
import type { Source, TableFormat } from '../../exports/table-source.ts';
import { ddlFor, type DialectName, loadStatementFor } from './dialects.ts';

export const changeModes = ['merge', 'scd2'] as const;
export type ChangeMode = (typeof changeModes)[number];

const standard = { quote: doubleQuoted, update: plainUpdate, begin: 'BEGIN;\n', commit: 'COMMIT;\n' };
const example = "'2026-11-20 02:00:00+00:00'";

/** `at` is a moment to be replaced. */
const styles: Readonly<Record<DialectName, ChangeStyle & { readonly begin: string; readonly commit: string }>> = {
  duckdb: { ...standard, at: `TIMESTAMPTZ ${example}` },
  postgres: { ...standard, at: `CAST(${example} AS timestamp with time zone)` },
  bigquery: {
    quote: backQuoted,
    update: plainUpdate,
    at: `TIMESTAMP ${example}`,
    begin: 'BEGIN TRANSACTION;\n',
    commit: 'COMMIT TRANSACTION;\n',
  },
  // Bare names, as in its DDL.
  snowflake: { ...standard, quote: (name) => name, at: `CAST(${example} AS TIMESTAMP_TZ)` },
  clickhouse: {
    quote: backQuoted,
    update: mutation,
    at: "toDateTime64('2026-11-20 02:00:00', 6, 'UTC')",
    begin: '-- ClickHouse has no transactions here: readers see each statement when it ends.\n',
    commit: '',
  },
  redshift: { ...standard, at: "CAST('2026-11-20 02:00:00' AS TIMESTAMP)" },
};

/** Waits until the rows are changed: the inserts that follow must not be. */
function mutation({ table, column, value, where }: SetColumn): string {
  return `ALTER TABLE ${table} UPDATE ${column} = ${value} WHERE ${where} SETTINGS mutations_sync = 2;\n`;
}

export interface ScriptOptions {
  readonly dialect: DialectName;
  readonly mode: ChangeMode;
  readonly folder: string;
  readonly format: TableFormat;
}

/** The columns that scd2 adds. */
export const validColumns: readonly Column[] = [
  {
    name: 'valid_from',
    type: 'timestamp',
    nullable: false,
    path: [],
    about: 'Start of the export that brought the row.',
  },
  {
    name: 'valid_to',
    type: 'timestamp',
    nullable: true,
    path: [],
    about: 'Start of the export that replaced the row.',
  },
];

/** Statements that apply the table `changes` of an export, or of a diff, to tables that hold the export before it. */
export function changeScript(tables: readonly Table[], { dialect, mode, folder, format }: ScriptOptions): string {
  const style = styles[dialect];
  const assets = tables.find(({ name }) => name === assetsTable.name) ?? assetsTable;
  const changes = tables.find(({ name }) => name === changesTable.name) ?? changesOf(assets.columns);
  const id = assets.columns.find(isIdColumn)?.name ?? 'id';
  const children = tables.filter(({ list }) => list !== undefined);
  const namesOf = (table: Table): string[] => table.columns.map(({ name }) => name);
  const staged = (table: Table): Table => ({ ...table, name: `new_${table.name}` });
  const load = (table: Table): string[] => {
    const files = `${format}/${table.name}/part-*`;
    const source: Source = {
      table: staged(table),
      format,
      folder,
      ...(dialect === 'postgres' ? {} : { files: [files] }),
    };
    return [ddlFor(dialect, staged(table)), loadFrom(dialect, source, table.name)];
  };
  const changed = {
    assets: { name: assets.name, columns: namesOf(changes).filter((name) => !changeColumns.includes(name)), id },
    changes: `new_${changes.name}`,
    children: children.map((table) => ({
      name: table.name,
      columns: namesOf(table),
      id: 'asset_id',
      staged: `new_${table.name}`,
    })),
  };
  const apply = mode === 'merge' ? mergeStatements : scd2Statements;
  const kept = [assets, ...children];
  const made =
    mode === 'merge' ? kept : kept.map((table) => ({ ...table, columns: [...table.columns, ...validColumns] }));
  const drops = [changes, ...children].map((table) => `DROP TABLE ${style.quote(`new_${table.name}`)};\n`);
  return [
    '-- once: the tables. Fill them from a whole export.\n',
    ...made.map((table) => ddlFor(dialect, table)),
    '-- each night, in order, and once only: applying the same changes twice doubles rows\n',
    ...[changes, ...children].flatMap(load),
    ...(mode === 'scd2' ? ['-- the time is the start of the export (startedAtMs of the manifest)\n'] : []),
    style.begin,
    ...apply(changed, style, 'delete'),
    style.commit,
    ...drops,
  ].join('\n');
}

/** The load statement of a table whose files lie under another name. */
function loadFrom(dialect: DialectName, source: Source, name: string): string {
  const text = loadStatementFor(dialect, source);
  return dialect === 'postgres' ? text.replaceAll(`/${source.table.name}/`, `/${name}/`) : text;
}

/** A view of the nights of a pattern, for DuckDB: the first night, and the changes of each later one. */
export function historyView(pattern: string): string {
  const folder = pattern.replace(/\/+$/, '').replaceAll("'", "''");
  return `CREATE OR REPLACE VIEW asset_history AS
WITH nights AS (
  SELECT min("date") AS first_night FROM read_parquet('${folder}/parquet/assets/*.parquet', hive_partitioning = true)
), versions AS (
  SELECT 'insert' AS op, "date" AS valid_from, * EXCLUDE ("date")
  FROM read_parquet('${folder}/parquet/assets/*.parquet', hive_partitioning = true, union_by_name = true)
  WHERE "date" = (SELECT first_night FROM nights)
  UNION ALL BY NAME
  SELECT op, "date" AS valid_from, * EXCLUDE (op, reason, changed, before, "date")
  FROM read_parquet('${folder}/parquet/changes/*.parquet', hive_partitioning = true, union_by_name = true)
  WHERE "date" > (SELECT first_night FROM nights)
), ended AS (
  SELECT *, lead(valid_from) OVER (PARTITION BY id ORDER BY valid_from) AS valid_to FROM versions
)
SELECT * EXCLUDE (op) FROM ended WHERE op <> 'delete';
`;
}
