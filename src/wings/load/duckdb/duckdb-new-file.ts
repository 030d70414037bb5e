import { ddlFor, type LoadPlan } from '../../warehouse/index.ts';
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { ExportError, messageOf } from '../../../lib/export-error.ts';
import { doubleQuoted, literal } from '../../../lib/sql-text.ts';
import { localDisk } from '../../../places/files/disk.ts';
import { realFile, takeFile, takeOwner, replaceFile } from '../../../places/files/replace-file.ts';
import type { Database } from '../database.ts';
import { connectDuckdb, databaseOn } from './duckdb-database.ts';
import { shownReason } from '../load-errors.ts';
import type { LoadedExport } from '../loaded-export.ts';
import { selectDuckdbSchema } from '../opening.ts';
import { addedRecordColumns, loadsTable } from '../load-record.ts';
import type { newColumnRules } from '../prepare-tables.ts';
import { keyOf } from '../target-tables.ts';
import { sameType, typeInDatabase } from '../table-columns.ts';

/** Rows of a query, each value as text. */
async function textsOf(connection: DuckDBConnection, sql: string): Promise<string[][]> {
  return (await connection.runAndReadAll(sql)).getRows().map((row) => row.map(String));
}

/** What a new file would not have: the function of DuckDB that lists it, its name there, and how people call it. */
const others = [
  ['duckdb_indexes', 'index_name', 'index'],
  ['duckdb_sequences', 'sequence_name', 'sequence'],
  ['duckdb_functions', 'function_name', 'macro'],
  ['duckdb_types', 'type_name', 'type'],
] as const;

/**
 * Says why a DuckDB file cannot be replaced by a new one: it holds more than the tables of the export and views. Undefined when it can.
 * @param held the name under which the file is attached
 */
async function notReplaceable(
  connection: DuckDBConnection,
  held: string,
  { tables }: LoadPlan,
  { schema = 'main', newColumns = 'add' }: Pick<NewFileOptions, 'schema' | 'newColumns'>,
): Promise<string | undefined> {
  const rowsOf = (sql: string): Promise<string[][]> => textsOf(connection, sql);
  const inFile = `database_name = ${literal(held)}`;
  const own = [loadsTable, ...tables.map(({ table }) => table.name)];
  const found = await rowsOf(`SELECT schema_name, table_name FROM duckdb_tables() WHERE ${inFile}`);
  const [foreign] = found.filter(([of, name = '']) => of !== schema || !own.includes(name));
  if (foreign !== undefined) return `it holds the table ${foreign.join('.')}, which is not of the export`;
  // A schema with views is made again with them.
  const empty = `NOT internal AND schema_name NOT IN ('main', ${literal(schema)}) AND schema_name NOT IN (SELECT schema_name FROM duckdb_views() WHERE ${inFile})`;
  const [ofUser] = await rowsOf(`SELECT schema_name FROM duckdb_schemas() WHERE ${inFile} AND ${empty}`);
  if (ofUser !== undefined) return `it holds the schema ${ofUser.join('')}`;
  for (const [list, name, kind] of others) {
    const internal = list === 'duckdb_functions' || list === 'duckdb_types' ? 'AND NOT internal' : '';
    const [first] = await rowsOf(`SELECT ${name} FROM ${list}() WHERE ${inFile} ${internal}`);
    if (first !== undefined) return `it holds the ${kind} ${first.join('')}`;
  }
  const records = `${inFile} AND table_name = ${literal(loadsTable)} AND column_name = ${literal(addedRecordColumns.at(-1)?.[0] ?? '')}`;
  const hasRecords = found.some(([, name]) => name === loadsTable);
  if (hasRecords && (await rowsOf(`SELECT 1 FROM duckdb_columns() WHERE ${records}`)).length === 0) {
    return `the table ${loadsTable} is of an older version`;
  }
  for (const source of tables) {
    const { table } = source;
    if (!found.some(([, name]) => name === table.name)) continue;
    const at = `${inFile} AND table_name = ${literal(table.name)}`;
    const columns = await rowsOf(
      `SELECT column_name, data_type, column_default IS NULL, is_nullable FROM duckdb_columns() WHERE ${at}`,
    );
    const isSame = ([name, type = '', isPlain]: readonly string[]): boolean => {
      const column = table.columns.find((each) => each.name === name);
      return column !== undefined && isPlain === 'true' && sameType(type, typeInDatabase('duckdb', column));
    };
    const needed = newColumns === 'add' ? (keyOf(source) ?? []) : table.columns.map((column) => column.name);
    if (!columns.every(isSame) || !needed.every((name) => columns.some(([held]) => held === name))) {
      return `the table ${table.name} has other columns than the export`;
    }
    const required = columns.find(
      ([name, , , isNullable]) =>
        isNullable === 'false' && table.columns.find((column) => column.name === name)?.nullable === true,
    );
    if (required !== undefined) return `the table ${table.name} has NOT NULL on the column ${required[0] ?? ''}`;
    const checks = `SELECT constraint_type FROM duckdb_constraints() WHERE ${at} AND constraint_type <> 'NOT NULL'`;
    const [check] = await rowsOf(checks);
    if (check !== undefined) return `the table ${table.name} has a constraint (${check.join('')})`;
  }
  return undefined;
}

/** The file that is replaced, attached to read. */
const held = 'asset_export_held';

export interface NewFileOptions {
  readonly schema: string | undefined;
  readonly newColumns: (typeof newColumnRules)[number] | undefined;
  readonly memoryBytes: number;
  readonly note: (text: string) => void;
}

/**
 * Opens a new file beside a DuckDB file, which takes its place when the load is published: readers keep the old file, and the file does
 * not grow. Undefined where the file is to be loaded in place: it is absent, or holds what is not of the export.
 */
export async function openNewFile(
  address: string,
  loaded: LoadedExport,
  options: NewFileOptions,
): Promise<Database | undefined> {
  const size = await localDisk.sizeOf(address);
  if (typeof size !== 'number' || size === 0) return undefined;
  const file = await realFile(address);
  if ((await localDisk.sizeOf(`${file}.wal`)) !== undefined) {
    options.note(`loading in place: ${file}.wal lies beside the file, so another program has not closed it`);
    return undefined;
  }
  const made = `${file}.new-${randomBytes(4).toString('hex')}`;
  const { connection, close } = await connectDuckdb(':memory:', file, options.memoryBytes);
  let letGo = async (): Promise<void> => undefined;
  const discard = async (): Promise<void> => {
    await close();
    for (const path of [made, `${made}.wal`]) await localDisk.remove(path);
    await letGo();
  };
  try {
    const turn = await takeTurn(file, address);
    if (typeof turn !== 'string') {
      letGo = turn;
      await removeLeftovers(file);
    }
    // Only now: the load before may have put a new file here.
    await connection.run(`ATTACH ${literal(file)} AS ${held} (READ_ONLY)`);
    const why =
      typeof turn === 'string'
        ? turn
        : ((await notReplaceable(connection, held, loaded.plan, options)) ??
          (await attachNew(connection, { made, file }, loaded, options.schema)) ??
          ((await takeOwner(made, file)) ? undefined : 'a new file could not get the owner and group of this one'));
    if (why === undefined) return await newFile(connection, { made, file, discard }, loaded, options.schema);
    options.note(`loading in place: ${why}`);
    await discard();
    return undefined;
  } catch (error) {
    await discard();
    throw error;
  }
}

/**
 * Takes a file for this load: of two that replace it, one would be lost. Resolves to what lets it go, or to why it cannot be taken.
 * @throws {ExportError} `unavailable` while another load replaces it
 */
async function takeTurn(file: string, address: string): Promise<(() => Promise<void>) | string> {
  try {
    return await takeFile(file);
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    const { why, todo = '' } = error;
    if (why?.kind !== 'held') return error.message;
    throw new ExportError('unavailable', `duckdb:${address} is held by the process ${why.pid}`, {
      todo: `Nothing was loaded. ${todo}`,
      why,
    });
  }
}

/** Removes what killed loads left, for the load whose turn it is: nobody else makes such files. */
async function removeLeftovers(file: string): Promise<void> {
  const start = `${basename(file)}.new-`;
  for (const name of await localDisk.listMarked(dirname(file))) {
    const isOurs = name.startsWith(start) && /^[0-9a-f]{8}(\.wal(\.\w+)?)?$/.test(name.slice(start.length));
    const path = join(dirname(file), name);
    if (isOurs && (await localDisk.readLink(path)) === undefined) await localDisk.remove(path);
  }
}

interface NewFile {
  readonly made: string;
  readonly file: string;
}

/** Names that no other database can have here. */
const taken: ReadonlySet<string> = new Set([
  ...['main', 'temp', 'system', 'memory', 'pg_catalog', 'information_schema'],
  held,
]);

/** The name of the database in a file, as DuckDB makes it: up to the first dot; `main_db` for `main.db`. */
function databaseNameOf(file: string): string {
  const name = basename(file)
    .split('.')
    .find((part) => part !== '');
  return name === undefined || taken.has(name.toLowerCase()) ? `${name ?? ''}_db` : name;
}

/** Attaches the new file under the name that the old one has in its views. Resolves to why that cannot be. */
async function attachNew(
  connection: DuckDBConnection,
  { made, file }: NewFile,
  { plan }: LoadedExport,
  schema: string | undefined,
): Promise<string | undefined> {
  const alias = doubleQuoted(databaseNameOf(file));
  await connection.run(`ATTACH ${literal(made)} AS ${alias}`);
  await connection.run(`USE ${alias}`);
  // A rehearsal: the views are made again when the tables are loaded.
  await connection.run('BEGIN');
  try {
    for (const sql of selectDuckdbSchema(schema)) await connection.run(sql);
    for (const { table } of plan.tables) await connection.run(ddlFor('duckdb', table));
    for (const sql of await viewsOf(connection, alias)) await connection.run(sql);
    return undefined;
  } catch (error) {
    const reason = messageOf(error);
    if (!/^(Catalog|Binder|Parser) Error/.test(reason)) throw error;
    return `its views cannot be made again (${shownReason(reason)})`;
  } finally {
    await connection.run('ROLLBACK');
    await connection.run(`USE ${alias}`);
  }
}

/** The statements that make the views of the old file in the new one, each in its schema, but for those that it has. @param alias of the new file */
async function viewsOf(connection: DuckDBConnection, alias: string): Promise<string[]> {
  const views = `SELECT schema_name, sql FROM duckdb_views() AS old WHERE database_name = '${held}' AND NOT internal
    AND NOT EXISTS (FROM duckdb_views() AS made WHERE made.database_name = current_database() AND made.schema_name = old.schema_name AND made.view_name = old.view_name)
    ORDER BY view_oid`;
  return (await textsOf(connection, views)).flatMap(([schema = '', sql = '']) => {
    const within = `${alias}.${doubleQuoted(schema)}`;
    return [`CREATE SCHEMA IF NOT EXISTS ${within}`, `USE ${within}`, sql];
  });
}

/** The statements that give tables, views and their columns the comments that they have in the old file. */
async function commentsOf(connection: DuckDBConnection, alias: string): Promise<string[]> {
  const kinds = [
    ['TABLE', 'duckdb_tables()', ['table_name']],
    ['VIEW', 'duckdb_views()', ['view_name']],
    ['COLUMN', 'duckdb_columns()', ['table_name', 'column_name']],
  ] as const;
  const statements: string[] = [];
  for (const [kind, list, names] of kinds) {
    const path = ['schema_name', ...names].map((name) => `old.${name}`).join(', ');
    const isSame = ['schema_name', ...names].map((name) => `old.${name} = made.${name}`).join(' AND ');
    const differ = `SELECT old."comment", ${path} FROM ${list} AS old JOIN ${list} AS made ON ${isSame}
WHERE old.database_name = '${held}' AND made.database_name = current_database() AND old."comment" IS NOT NULL AND old."comment" IS DISTINCT FROM made."comment"`;
    for (const [comment = '', ...words] of await textsOf(connection, differ))
      statements.push(`COMMENT ON ${kind} ${alias}.${words.map(doubleQuoted).join('.')} IS ${literal(comment)}`);
  }
  return statements;
}

async function newFile(
  connection: DuckDBConnection,
  { made, file, discard }: NewFile & { readonly discard: () => Promise<void> },
  loaded: LoadedExport,
  schema = 'main',
): Promise<Database> {
  const alias = doubleQuoted((await textsOf(connection, 'SELECT current_database()')).join(''));
  const tables = `SELECT table_name FROM duckdb_tables() WHERE database_name = '${held}' AND schema_name = ${literal(schema)}`;
  const names = new Set((await textsOf(connection, tables)).flat());
  const viewName = (table: string): string => `${held}_${table}`;
  for (const name of names) {
    const from = [held, schema, name].map(doubleQuoted).join('.');
    await connection.run(`CREATE TEMPORARY VIEW ${doubleQuoted(viewName(name))} AS SELECT * FROM ${from}`);
  }
  const publish = async (): Promise<void> => {
    for (const sql of await viewsOf(connection, alias)) await connection.run(sql);
    for (const sql of await commentsOf(connection, alias)) await connection.run(sql);
    await connection.run(`CHECKPOINT ${alias}`);
    await connection.run('USE memory');
    await connection.run(`DETACH ${alias}`);
    await replaceFile(made, file);
  };
  return {
    ...databaseOn(connection, loaded),
    heldDatabase: held,
    heldName: (table) => (names.has(table) ? viewName(table) : table),
    publish,
    close: discard,
  };
}
