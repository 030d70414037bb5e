import type { LoadPlan } from '../../warehouse/index.ts';
import type { DuckDBConnection } from '@duckdb/node-api';
import { literal } from '../../../lib/sql-text.ts';
import { addedRecordColumns, loadsTable } from '../load-record.ts';
import { sameType, typeInDatabase } from '../table-columns.ts';

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
export async function notReplaceable(
  connection: DuckDBConnection,
  held: string,
  { tables }: LoadPlan,
  schema = 'main',
): Promise<string | undefined> {
  const rowsOf = async (sql: string): Promise<string[][]> =>
    (await connection.runAndReadAll(sql)).getRows().map((row) => row.map(String));
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
  for (const { table } of tables) {
    if (!found.some(([, name]) => name === table.name)) continue;
    const at = `${inFile} AND table_name = ${literal(table.name)}`;
    const columns = await rowsOf(
      `SELECT column_name, data_type, column_default IS NULL, is_nullable FROM duckdb_columns() WHERE ${at}`,
    );
    const isSame = ([name, type = '', isPlain]: readonly string[]): boolean => {
      const column = table.columns.find((each) => each.name === name);
      return column !== undefined && isPlain === 'true' && sameType(type, typeInDatabase('duckdb', column));
    };
    if (columns.length !== table.columns.length || !columns.every(isSame)) {
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
