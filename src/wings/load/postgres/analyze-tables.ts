import type { LoadPlan } from '../../warehouse/index.ts';
import { messageOf } from '../../../lib/export-error.ts';
import type { Database } from '../database.ts';
import { shownReason } from '../load-errors.ts';
import { lockLimitMs } from '../short-locks.ts';
import { filledTables, nameIn } from '../table-columns.ts';

/** After the rows are kept: whatever happens here is no error. */
export async function analyzeTables(
  database: Database,
  plan: LoadPlan,
  { schema, note }: { readonly schema: string | undefined; readonly note: (text: string) => void },
): Promise<void> {
  try {
    // The limit of the load ended with its transaction.
    await database.run(`SET lock_timeout = ${await lockLimitMs(database)}`);
    for (const { name } of filledTables(plan)) await database.run(`ANALYZE ${nameIn(schema, name)};\n`);
  } catch (error) {
    note(`the tables were loaded, but ANALYZE failed: ${shownReason(messageOf(error))}`);
  }
}
