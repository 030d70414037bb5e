import type { LoadTable } from '../../warehouse/index.ts';
import { changeColumns } from '../../../core/records/columns.ts';
import { doubleQuoted } from '../../../lib/sql-text.ts';
import type { LoadSession } from '../load-session.ts';
import { createStage, createTemporary } from '../stages.ts';
import { typeInDatabase } from '../table-columns.ts';

/** The stage of the changes. */
export const stagedChanges = 'asset_export_changes';

/**
 * Loads the changes into a stage. Its columns have the types of the table of assets, which in a trial may lack some of them.
 * @param assets the name of that table
 */
export async function stageChanges(session: LoadSession, source: LoadTable, assets: string): Promise<void> {
  const { columns } = source.table;
  const own = columns.filter(({ name }) => changeColumns.includes(name));
  const types = new Map(own.map((column) => [column.name, typeInDatabase(session.kind, column)]));
  const table = { name: stagedChanges, columns };
  await session.run(
    session.isTrial
      ? createTemporary(session.kind, table)
      : createStage({ table: { name: assets, columns }, stage: stagedChanges }, types),
  );
  await session.load({ ...source, table });
  if (session.kind === 'postgres') await session.run(`ANALYZE ${doubleQuoted(stagedChanges)};\n`);
}
