import type { BookedDay } from './credit-ledger.ts';
import { keyHash } from './ledger-file.ts';
import { connectPostgres, patience, type PostgresContext } from './postgres-connection.ts';
import { readSchemaVersion } from './postgres-schema.ts';

export interface PostgresReading extends PostgresContext {
  /** All keys where it is absent. */
  readonly apiKey?: string | undefined;
}

const statement = `
select coalesce(json_agg(d order by "keyHash", day), '[]') as days from (
  select key as "keyHash", to_char(day, 'YYYY-MM-DD') as day, booked as credits
  from asset_export.day where $1::text is null or key = $1
) d`;

/**
 * What is booked in a shared database, by key and day. Changes nothing there, and waits 10 seconds at most.
 * @throws {ExportError} as `openPostgresLedger`
 */
export async function readPostgresLedger(
  address: string,
  { apiKey, ...context }: PostgresReading,
): Promise<BookedDay[]> {
  const connection = await connectPostgres(address, context);
  try {
    if ((await readSchemaVersion(connection, patience.figureMs)) === undefined) return [];
    const hash = apiKey === undefined ? null : keyHash(apiKey);
    const { days } = await connection.ask(statement, [hash], patience.figureMs);
    return days as BookedDay[];
  } finally {
    await connection.close();
  }
}
