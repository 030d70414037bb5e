import type { DeleteRule } from '../../warehouse/index.ts';
import type { Table } from '../../../core/records/table.ts';
import { doubleQuoted } from '../../../lib/sql-text.ts';
import { differenceOf } from '../difference.ts';
import type { LoadSession } from '../load-session.ts';
import { marksCleared, marksSet } from './marks.ts';
import { updateAndInsert } from '../replace-all.ts';

export interface MergedAssets {
  /** The table of assets, with the columns that the export fills. */
  readonly table: Table;
  readonly id: string;
  /** The table that holds the rows of `changes`. */
  readonly changes: string;
  readonly deletes: DeleteRule;
  /** The start of the newer export, as an expression. */
  readonly at: string;
  readonly hasMarks: boolean;
}

/** Applies changes to the table of assets. Columns of the user keep their values in updated rows, and so do rows that refer to these. */
export async function mergeAssets(session: LoadSession, merged: MergedAssets): Promise<void> {
  const { table, id, changes, deletes, at, hasMarks } = merged;
  const among = (op: string): string =>
    `${doubleQuoted(id)} IN (SELECT ${doubleQuoted(id)} FROM ${doubleQuoted(changes)} WHERE op ${op} 'delete')`;
  const gone = `${doubleQuoted(table.name)} WHERE ${among('=')}`;
  if (deletes === 'delete') await session.change({ table: table.name, sql: `DELETE FROM ${gone};\n`, rows: gone });
  if (deletes === 'mark') await session.change(marksSet(table.name, at, among('=')));
  if (hasMarks) await session.change(marksCleared(table.name, among('<>')));
  const staged = { table, stage: changes, key: [id], only: `staged.op <> 'delete'` };
  await updateAndInsert(session, differenceOf(session.kind, staged));
}
