import type { Column } from '../../core/records/table.ts';
import { ExportError } from '../../lib/export-error.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import { goneRows, sameKey, type StagedTable } from './difference.ts';
import type { DeleteRule } from './load-record.ts';
import type { CountedChange } from './load-session.ts';
import type { Database, DatabaseKind } from './database.ts';
import { columnsInDatabase, columnsQuery, describeColumn } from './table-columns.ts';

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

/** The assets without a mark. */
export const isUnmarked = `held.${doubleQuoted(marksColumn.name)} IS NULL`;

function marksSet({ table: { name } }: StagedTable, at: string, rows: string): CountedChange {
  const condition = rows.slice(rows.indexOf(' WHERE '));
  const set = `SET ${doubleQuoted(marksColumn.name)} = ${at}`;
  return { table: name, sql: `UPDATE ${doubleQuoted(name)} AS held ${set}${condition};\n`, rows };
}

/** Marks the assets that the export does not have. @param at the time, as an expression */
export function marksOfGone(assets: StagedTable, at: string): CountedChange {
  return marksSet(assets, at, `${goneRows(assets)} AND ${isUnmarked}`);
}

/** Clears the marks of assets that the export has. */
export function marksCleared(assets: StagedTable): CountedChange {
  const { table, stage, key = [], only } = assets;
  const isStaged = `EXISTS (SELECT 1 FROM ${doubleQuoted(stage)} AS staged WHERE ${sameKey(key)} AND ${only})`;
  return marksSet(assets, 'NULL', `${doubleQuoted(table.name)} AS held WHERE NOT ${isUnmarked} AND ${isStaged}`);
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
  { schema, deletes }: { readonly schema?: string | undefined; readonly deletes?: DeleteRule | undefined } = {},
): Promise<boolean> {
  const isOfExport = columns.includes(marksColumn.name);
  if (!isOfExport && (await database.rows(marksQuery(database.kind, name))).length > 0) return true;
  if (deletes !== 'mark') return false;
  const held = await columnsInDatabase(database, schema, name);
  const { name: column, about } = marksColumn;
  if (!isOfExport && !held.has(column)) return false;
  const renames = 'Rename the column in the job (output.rename) and in the table';
  const owns = `Rename the column. If an older version made it for marks, run: ${describeColumn(schema, { table: name, column, type: '', about })}`;
  const message = `the column ${column} of the table ${name} is not for marks: --deletes mark would overwrite its values`;
  throw new ExportError('usage', message, { todo: `${isOfExport ? renames : owns}\nOr use --deletes keep or delete.` });
}
