import { type LoadPlan, nftViewColumns } from '../../warehouse/index.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { withoutMiddle } from '../../../lib/format-text.ts';
import { literal } from '../../../lib/sql-text.ts';
import type { LoadSession } from '../load-session.ts';

/**
 * DuckDB puts a view in the place of any other. PostgreSQL refuses one with other columns.
 * @param place.database an attached database; default: the one in use
 * @throws {ExportError} `loadFailed` where another view, or a table, has the name of the view that a load would make
 */
export async function requireOwnView(
  session: LoadSession,
  { prefix }: LoadPlan,
  place: { readonly schema: string | undefined; readonly database: string | undefined },
): Promise<void> {
  if (session.kind !== 'duckdb') return;
  const name = `${prefix}nft_metadata`;
  const database = place.database === undefined ? 'current_database()' : literal(place.database);
  const schema = literal(place.schema ?? 'main');
  const at = (column: string): string =>
    `database_name = ${database} AND lower(schema_name) = lower(${schema}) AND lower(${column}) = lower(${literal(name)})`;
  const columns = `SELECT string_agg(column_name, ', ' ORDER BY column_index) AS columns FROM duckdb_columns() WHERE ${at('table_name')}`;
  const isOurs = `starts_with(${literal(nftViewColumns.join(', '))}, columns) AND EXISTS (FROM duckdb_views() WHERE ${at('view_name')})`;
  await session.refuseIf({
    query: `SELECT columns FROM (${columns}) AS held WHERE columns IS NOT NULL AND NOT (${isOurs})`,
    error: ([held]) =>
      new ExportError(
        'loadFailed',
        `${name} is a table or view of your own, with the columns ${withoutMiddle(String(held))}`,
        {
          todo: 'Nothing was loaded. Rename it, or load without --views, or with another --prefix.',
        },
      ),
  });
}
