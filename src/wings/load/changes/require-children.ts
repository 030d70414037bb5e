import type { LoadPlan } from '../../warehouse/index.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { assetsTable, changesTable, tableNames } from '../../../core/records/columns.ts';
import { doubleQuoted, literal } from '../../../lib/sql-text.ts';
import type { Database } from '../database.ts';
import type { LoadedExport } from '../loaded-export.ts';
import { loadsTable } from '../load-record.ts';
import { columnsInDatabase } from '../table-columns.ts';

/**
 * Child tables change with their assets: those that hold the export that `assets` holds must be those that are loaded.
 * @param folder the export whose changes are loaded, for messages
 * @param base the export that `assets` holds
 * @throws {ExportError} `usage` where one of them would be left behind, or would begin with the rows of changed assets alone
 */
export async function requireSameChildren(
  database: Database,
  folder: string,
  plan: Pick<LoadPlan, 'tables' | 'prefix'>,
  base: { readonly name: string; readonly seal: string },
): Promise<void> {
  const children = tableNames.filter((name) => name !== assetsTable.name && name !== changesTable.name);
  const found = await database.rows(
    `SELECT "table" FROM ${doubleQuoted(loadsTable)} WHERE seal = ${literal(base.seal)}`,
  );
  const held = new Set(found.map(([name]) => String(name)));
  for (const name of children) {
    const table = plan.prefix + name;
    const isLoaded = plan.tables.some((each) => each.name === name);
    if (isLoaded === held.has(table)) continue;
    const why = isLoaded
      ? `${folder} has the table ${name}, but the table ${table} was not loaded from ${base.name}`
      : `the table ${table} holds ${base.name}, but ${folder} has no table ${name}`;
    throw new ExportError('usage', `${why}: the child rows would no longer match the assets`, {
      todo: 'Write both exports with the same tables (asset-export rebuild … --tables …), or load into other tables with --schema or --prefix.',
    });
  }
}

/**
 * A line on tables that an earlier export filled and this one does not have; undefined where there are none. The tables are not
 * read: the role may not have the right.
 */
export async function leftTables(database: Database, { plan, name }: LoadedExport): Promise<string | undefined> {
  const own = new Set(plan.tables.map((table) => table.name));
  const others = tableNames.filter((each) => each !== changesTable.name && !own.has(each));
  if (others.length === 0) return undefined;
  const names = others.map((each) => literal(plan.prefix + each)).join(', ');
  const records = await database.rows(
    `SELECT "table", coalesce(export, 'an earlier export') FROM ${doubleQuoted(loadsTable)} WHERE "table" IN (${names}) AND coalesce("rows", 1) > 0 ORDER BY 1`,
  );
  const left: string[] = [];
  for (const [table, held] of records) {
    const columns = await columnsInDatabase(database, undefined, String(table));
    if (columns.size > 0) left.push(`${String(table)} (of ${String(held)})`);
  }
  if (left.length === 0) return undefined;
  return `${name} does not have these tables, so they stay as an earlier load left them: ${left.join(', ')}. Drop them if they are not needed.`;
}
