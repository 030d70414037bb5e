import type { Column } from '../../../core/records/table.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { doubleQuoted, literal } from '../../../lib/sql-text.ts';
import type { CountedChange, DeleteRule } from '../../warehouse/index.ts';
import type { Database, DatabaseKind } from '../database.ts';
import { columnsInDatabase, columnsQuery, describeColumn } from '../table-columns.ts';

/** The column of `assets` that `--deletes mark` sets. Its comment tells it from a column of the user that has its name. */
export const marksColumn: Column = {
  name: 'deleted_at',
  type: 'timestamp',
  nullable: true,
  path: [],
  about: 'When the asset was found to be gone.',
};

/** Finds a row if a table has the column of marks. @param table of the current schema */
function marksQuery(kind: DatabaseKind, table: string): string {
  const [name, about] = [literal(marksColumn.name), literal(marksColumn.about)];
  return `SELECT 1 FROM (${columnsQuery(kind, undefined, table)}) AS held WHERE name = ${name} AND "comment" = ${about}`;
}

/** Marks assets. @param at the time, as an expression */
export function marksSet(table: string, at: string, where: string): CountedChange {
  const target = doubleQuoted(table);
  const sql = `UPDATE ${target} SET ${doubleQuoted(marksColumn.name)} = ${at} WHERE ${where};\n`;
  return { table, sql, rows: `${target} WHERE ${where}` };
}

/** Clears the marks of assets that the export has. */
export function marksCleared(table: string, where = 'TRUE'): CountedChange {
  return marksSet(table, 'NULL', `${doubleQuoted(marksColumn.name)} IS NOT NULL AND ${where}`);
}

export interface MarksOptions {
  readonly schema?: string | undefined;
  readonly deletes?: DeleteRule | undefined;
}

/**
 * Whether the table of assets has the column of marks.
 * @param columns those that the export fills
 * @throws {ExportError} `usage` where a load that marks would overwrite another column of its name
 */
export async function holdsMarks(
  database: Database,
  name: string,
  columns: readonly string[],
  { schema, deletes }: MarksOptions = {},
): Promise<boolean> {
  const isOfExport = columns.includes(marksColumn.name);
  if (!isOfExport && (await database.rows(marksQuery(database.kind, name))).length > 0) return true;
  if (deletes !== 'mark') return false;
  const held = await columnsInDatabase(database, schema, name);
  if (isOfExport || held.has(marksColumn.name)) throw marksTaken(name, schema, isOfExport);
  return false;
}

/** @param isOfExport whether the export fills it */
function marksTaken(table: string, schema: string | undefined, isOfExport: boolean): ExportError {
  const { name: column, about } = marksColumn;
  const renames = 'Rename the column in the job (output.rename) and in the table';
  const owns = `Rename the column. If an older version made it for marks, run: ${describeColumn(schema, { table, column, type: '', about })}`;
  return new ExportError(
    'usage',
    `the column ${column} of the table ${table} is not for marks: --deletes mark would overwrite its values`,
    { todo: `${isOfExport ? renames : owns}\nOr use --deletes keep or delete.` },
  );
}
