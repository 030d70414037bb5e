import { doubleQuoted } from '../../lib/sql-text.ts';
import { absentRows, goneRows, insertStaged, listChanged, type StagedTable, updateListed } from './difference.ts';
import type { LoadSession } from './load-session.ts';

/** Rows of a table that a load removed, and those that it wrote. */
export interface ChangedRows {
  readonly deleted: number;
  readonly written: number;
}

/**
 * Brings a table to the rows of its stage: unchanged rows stay as they are, and so do columns of the user in updated rows.
 * @param isWhole whether all rows of the table are compared @param keeps whether rows that the export does not have stay
 */
export async function replaceRows(
  session: LoadSession,
  staged: StagedTable,
  { isWhole, keeps, note }: { isWhole: boolean; keeps: boolean; note: (text: string) => void },
): Promise<ChangedRows> {
  const { table, key } = staged;
  const target = doubleQuoted(table.name);
  if (key === undefined) {
    note(`the table ${table.name} has no key: all its rows were deleted and inserted`);
  } else if (isWhole && !(await session.hasUniqueKey(table.name, key))) {
    const keys = key.map(doubleQuoted).join(', ');
    const twins = await session.run(
      `DELETE FROM ${target} WHERE (${keys}) IN (SELECT ${keys} FROM ${target} GROUP BY ${keys} HAVING count(*) > 1);\n`,
    );
    if (twins > 0) note(`the key of the table ${table.name} is not unique: ${twins} rows were deleted and inserted`);
  }
  const deleted = keeps ? 0 : await session.run(`DELETE FROM ${goneRows(staged)};\n`);
  const list = key === undefined ? undefined : await listChanged(session, staged);
  let updated = 0;
  if (list !== undefined) {
    const sql = updateListed(staged, list);
    updated = await session.change({ table: table.name, sql, rows: doubleQuoted(list) });
    await session.run(`DROP TABLE ${doubleQuoted(list)};\n`);
  }
  return { deleted, written: updated + (await session.change(insertStaged(table, absentRows(staged)))) };
}

const changedIds = doubleQuoted('asset_export_changed_ids');

/** The open rows of a table. */
export const isOpen = 'held.valid_to IS NULL';

/**
 * Closes the open rows of assets that changed, in all tables, and adds those of the export. Rows that began with this export are replaced.
 * @param tables that of assets first @param at the start of the export, as an expression
 */
export async function addVersions(
  session: LoadSession,
  tables: readonly StagedTable[],
  { at, keeps }: { readonly at: string; readonly keeps: boolean },
): Promise<ChangedRows> {
  await session.run(`CREATE TEMPORARY TABLE ${changedIds} (id text);\n`);
  let deleted = 0;
  for (const [index, staged] of tables.entries()) {
    const add = (id: string, from: string) =>
      session.run(`INSERT INTO ${changedIds} SELECT DISTINCT ${id} FROM ${from};\n`);
    const id = doubleQuoted(idOf(staged));
    const keys = (staged.key ?? []).map(doubleQuoted).join(', ');
    if (!(keeps && index === 0)) {
      const gone = await add(`held.${id}`, goneRows(staged));
      if (index === 0) deleted = gone;
    }
    await add(`staged.${id}`, absentRows(staged));
    // Twins, which a person made.
    await add(
      id,
      `${doubleQuoted(staged.table.name)} AS held WHERE ${staged.among} GROUP BY ${keys} HAVING count(*) > 1`,
    );
    const list = await listChanged(session, staged);
    if (list === undefined) continue;
    await add(id, doubleQuoted(list));
    await session.run(`DROP TABLE ${doubleQuoted(list)};\n`);
  }
  let written = 0;
  for (const [index, staged] of tables.entries()) {
    const inserted = await changeVersions(session, staged, at);
    if (index === 0) written = inserted;
  }
  await session.run(`DROP TABLE ${changedIds};\n`);
  return { deleted, written };
}

/** Resolves to the number of new rows. */
async function changeVersions(session: LoadSession, staged: StagedTable, at: string): Promise<number> {
  const { table, stage, only } = staged;
  const id = doubleQuoted(idOf(staged));
  const changed = (row: string): string => `${row}.${id} IN (SELECT id FROM ${changedIds})`;
  const target = `${doubleQuoted(table.name)} AS held`;
  const open = `${isOpen} AND ${changed('held')}`;
  await session.run(`DELETE FROM ${target} WHERE ${open} AND held.valid_from >= ${at};\n`);
  const sql = `UPDATE ${target} SET valid_to = ${at} WHERE ${open};\n`;
  await session.change({ table: table.name, sql, rows: `${target} WHERE ${open}` });
  const rows = `${doubleQuoted(stage)} AS staged WHERE ${only} AND ${changed('staged')}`;
  return session.change(insertStaged(table, rows, { valid_from: at }));
}

function idOf({ key }: StagedTable): string {
  const [id] = key ?? [];
  if (id === undefined) throw new Error('versions need a key');
  return id;
}
