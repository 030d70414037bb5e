import { duckdbType, type LoadPlan, postgresType } from '../warehouse/index.ts';
import { type Column, type Table } from '../../core/records/table.ts';
import { ExportError } from '../../lib/export-error.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import type { Database, DatabaseKind } from './database.ts';

/** The tables of the database that an export fills, with the columns that it fills. */
export function filledTables({ tables }: LoadPlan): Table[] {
  return tables.map(({ table }) => table);
}

/** The type of a new column: it can be null, because the rows that are there have no value. */
export function typeInDatabase(kind: DatabaseKind, column: Column): string {
  const nullable = { ...column, nullable: true };
  return kind === 'duckdb' ? duckdbType(nullable) : postgresType(nullable);
}

/** Types of the columns of a table, by name; none where the table is absent. */
export async function columnsInDatabase(
  database: Database,
  schema: string | undefined,
  table: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.rows(columnsQuery(database.kind, schema, table));
  return new Map(rows.map(([name, type]) => [String(name), String(type)]));
}

/** The columns of a table, `name`, `type` and `comment`: of PostgreSQL where the search path finds it first. */
export function columnsQuery(kind: DatabaseKind, schema: string | undefined, table: string): string {
  const inSchema = schema === undefined ? 'current_schema()' : literal(schema);
  return kind === 'duckdb'
    ? `SELECT column_name AS name, data_type AS type, "comment" FROM duckdb_columns() WHERE database_name = current_database() AND schema_name = ${inSchema} AND table_name = ${literal(table)}`
    : `SELECT attname::text AS name, format_type(atttypid, atttypmod) AS type, col_description(attrelid, attnum) AS "comment" FROM pg_attribute WHERE attrelid = to_regclass(${literal(nameIn(schema, table))}) AND attnum > 0 AND NOT attisdropped`;
}

/** A table in its schema. */
export function nameIn(schema: string | undefined, table: string): string {
  return `${schema === undefined ? '' : `${doubleQuoted(schema)}.`}${doubleQuoted(table)}`;
}

/** A column that is to be added to a table. */
export interface NewColumn {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly about: string;
}

/** The columns that a table lacks; none where the table is absent. */
export async function lackingColumns(
  database: Database,
  schema: string | undefined,
  table: Table,
): Promise<NewColumn[]> {
  const held = await columnsInDatabase(database, schema, table.name);
  if (held.size === 0) return [];
  return table.columns
    .filter(({ name }) => !held.has(name))
    .map((column) => ({
      table: table.name,
      column: column.name,
      type: typeInDatabase(database.kind, column),
      about: column.about,
    }));
}

export function addColumn(schema: string | undefined, { table, column, type }: NewColumn): string {
  return `ALTER TABLE ${nameIn(schema, table)} ADD COLUMN IF NOT EXISTS ${doubleQuoted(column)} ${type};`;
}

export function describeColumn(schema: string | undefined, { table, column, about }: NewColumn): string {
  return `COMMENT ON COLUMN ${nameIn(schema, table)}.${doubleQuoted(column)} IS ${literal(about)};`;
}

export function sameType(held: string, type: string): boolean {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[\s"]/g, '');
  return plain(held) === plain(type) || (synonyms[plain(type)] ?? '') === plain(held);
}

/** How DuckDB names what it was given. */
const synonyms: Readonly<Record<string, string>> = {
  text: 'varchar',
  timestamptz: 'timestampwithtimezone',
  json: 'json',
};

/** @param why what the program may not do, or was told not to do */
export function statementsForOwner(why: string, statements: readonly string[]): ExportError {
  return new ExportError('loadFailed', why, {
    todo: `Nothing was loaded. Run as the owner of the table, then load again:\n${statements.join('\n')}`,
  });
}
