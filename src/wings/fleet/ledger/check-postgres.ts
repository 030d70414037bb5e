import { ExportError } from '../../../lib/export-error.ts';
import { connectPostgres, patience, type PostgresContext } from './postgres-connection.ts';
import { hasSchema } from './postgres-schema.ts';
/** What the user may do in the database as a whole, and in the schema of the ledger where that is there. */
const statement = `
select extract(epoch from clock_timestamp()) * 1000 as now, current_user::text as user,
  has_database_privilege(current_database(), 'CREATE') as "mayMake",
  pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as "isReadOnly",
  (select has_schema_privilege(oid, 'USAGE') from pg_namespace where nspname = 'asset_export') as "mayUse",
  (select string_agg(c.relname, ', ' order by c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = 'asset_export' and c.relkind = 'r' and not (has_table_privilege(c.oid, 'SELECT')
   and has_table_privilege(c.oid, 'INSERT') and has_table_privilege(c.oid, 'UPDATE') and has_table_privilege(c.oid, 'DELETE'))
  ) as "closed"`;

/**
 * Sees whether a shared ledger can be opened in a database. Changes nothing there.
 * @throws {ExportError} `unavailable`; `loadFailed` when the database refuses the user, or does not grant what the ledger needs
 */
export async function checkPostgres(
  address: string,
  context: PostgresContext,
): Promise<{
  /** The time of the database, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Where they are missing, the next run makes them. */
  readonly hasTables: boolean;
}> {
  const connection = await connectPostgres(address, context);
  try {
    const { now, user, ...may } = await connection.ask(statement, [], patience.glanceMs);
    const hasTables = await hasSchema(connection, patience.glanceMs);
    const name = String(user);
    if (may['isReadOnly'] === true) throw lacking('the database is read-only', 'Name the primary server.');
    if (!hasTables && may['mayMake'] !== true) {
      throw lacking(
        `the user ${name} may not create the schema asset_export`,
        `Grant it (grant create on database … to ${name}), or let another user create the schema with one run.`,
      );
    }
    if (hasTables && may['mayUse'] !== true) {
      throw lacking(
        `the user ${name} may not use the schema asset_export`,
        `Run: grant usage on schema asset_export to ${name}`,
      );
    }
    if (hasTables && typeof may['closed'] === 'string') {
      throw lacking(
        `the user ${name} lacks rights on these tables of asset_export: ${may['closed']}`,
        `Run: grant select, insert, update, delete on all tables in schema asset_export to ${name}`,
      );
    }
    return { nowMs: Number(now), hasTables };
  } catch (error) {
    if (!(error instanceof ExportError) || error.exit !== 'cannotWrite') throw error;
    const { message, todo = '' } = error;
    throw new ExportError('loadFailed', message, { todo, cause: error });
  } finally {
    await connection.close();
  }
}

function lacking(problem: string, todo: string): ExportError {
  return new ExportError('loadFailed', `the shared database: ${problem}`, { todo });
}
