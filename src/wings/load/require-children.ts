import type { LoadPlan } from '../warehouse/index.ts';
import { ExportError } from '../../lib/export-error.ts';
import { assetsTable, changesTable, tableNames } from '../../core/records/columns.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import type { Database } from './database.ts';
import { loadsTable } from './load-record.ts';

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
