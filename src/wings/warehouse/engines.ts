import type { Table } from '../../core/records/table.ts';
import { bigquery } from './bigquery.ts';
import { clickhouse } from './clickhouse.ts';
import type { Source } from '../../exports/duckdb-files.ts';
import { ExportError } from '../../lib/export-error.ts';
import { count } from '../../lib/format-text.ts';
import type { Engine } from './engine.ts';
import { duckdb } from './duckdb.ts';
import { postgres } from './postgres.ts';
import { redshift } from './redshift.ts';
import { snowflake } from './snowflake.ts';

/** The warehouses that `schema --for` knows. A new one is a file and a line here. */
const known = { duckdb, postgres, bigquery, snowflake, clickhouse, redshift };

export type EngineName = keyof typeof known;

export const engines: Readonly<Record<EngineName, Engine>> = known;

export const engineNames = Object.keys(engines) as EngineName[];

/** Where an export may lie for each warehouse, to fill in. */
export const exampleFolders: Readonly<Record<EngineName, string>> = {
  duckdb: 'out',
  postgres: 'out',
  bigquery: 'gs://bucket/out',
  snowflake: '@stage/out',
  clickhouse: 'out',
  redshift: 's3://bucket/out',
};

/** The statement that creates a table in the warehouse. @param cluster columns that its rows are ordered by, of those that it has */
export function ddlFor(engine: EngineName, table: Table, cluster: readonly string[] = []): string {
  const held = cluster.filter((name) => table.columns.some((column) => column.name === name));
  return engines[engine].createTable(table, held);
}

/** Whether tables of a warehouse may be clustered. */
export function hasClusters(engine: EngineName): boolean {
  return engines[engine].clusters !== undefined;
}

/** @throws {ExportError} `usage` for columns that a warehouse orders no rows by */
export function requireCluster(engine: EngineName, tables: readonly Table[], cluster: readonly string[]): void {
  const { clusters: { mostColumns = Infinity, without = [] } = {}, types } = engines[engine];
  const twice = cluster.find((name, at) => cluster.indexOf(name) < at);
  if (twice !== undefined) {
    throw new ExportError('usage', `--cluster names the column ${twice} twice`, { todo: 'Name each column once.' });
  }
  for (const { name: table, columns } of tables) {
    const named = columns.filter(({ name }) => cluster.includes(name));
    const refused = named.find(({ type }) => without.includes(type));
    if (refused !== undefined) {
      const message = `${engine} cannot order rows by the column ${refused.name} (${types[refused.type]})`;
      throw new ExportError('usage', message, { todo: 'Name another column with --cluster.' });
    }
    if (named.length > mostColumns) {
      const message = `${engine} orders a table by at most ${mostColumns} columns: ${table} would have ${named.length}`;
      throw new ExportError('usage', message, { todo: 'Name fewer columns with --cluster.' });
    }
  }
}

/** @throws {ExportError} `notTolerated` for texts that are longer than a column of the warehouse holds */
export function requireShortTexts(engine: EngineName, tables: readonly Table[]): void {
  const { longestText = Infinity } = engines[engine];
  const long = tables.flatMap(({ name, columns }) =>
    columns
      .filter(({ maxBytes = 0 }) => maxBytes > longestText)
      .map((column) => `${name}.${column.name} (${count(column.maxBytes ?? 0)} bytes)`),
  );
  if (long.length === 0) return;
  const message = `a text in ${engine} has at most ${count(longestText)} bytes, and the export has longer ones: ${long.join(', ')}`;
  throw new ExportError('notTolerated', message, {
    todo: 'Omit them: rebuild EXPORT --out NEW, with --exclude for columns of assets or --tables. Or load the export into another warehouse.',
  });
}

/** The statements that describe a table and its columns, where `ddlFor` does not: to be run where the table was created. */
export function commentsFor(engine: EngineName, table: Table): string {
  return engines[engine].describe?.(table) ?? '';
}

/** The statements that load the files of a table in the warehouse. */
export function loadStatementFor(engine: EngineName, source: Source): string {
  return engines[engine].load(source);
}

/** What to set before the statements are run, as a comment. */
export function noteFor(engine: EngineName): string {
  return engines[engine].note ?? '';
}
