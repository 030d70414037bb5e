import type { BookedDay } from '../../../core/client/ledger/credit-ledger.ts';
import { type LedgerOf, ledgerName } from '../../../core/client/ledger/ledger-file.ts';
import { connectPostgres, patience, type PostgresContext } from './postgres-connection.ts';
import { hasSchema } from './postgres-schema.ts';

const statement = `
select coalesce(json_agg(d order by ledger, day), '[]') as days from (
  select key as ledger, to_char(day, 'YYYY-MM-DD') as day, booked as credits
  from asset_export.day where $1::text is null or key = $1
) d`;

/**
 * What is booked in a shared database, by key and day. Changes nothing there, and waits 10 seconds at most.
 * All ledgers where neither a key nor an account is given.
 * @throws {ExportError} as `openPostgresLedger`
 */
export async function readPostgresLedger(
  address: string,
  { apiKey, account, ...context }: PostgresContext & LedgerOf,
): Promise<BookedDay[]> {
  const connection = await connectPostgres(address, context);
  try {
    if (!(await hasSchema(connection, patience.figureMs))) return [];
    const only = apiKey === undefined && account === undefined ? null : ledgerName({ apiKey, account });
    const { days } = await connection.ask(statement, [only], patience.figureMs);
    return days as BookedDay[];
  } finally {
    await connection.close();
  }
}
