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
