import { ExportError } from '../../lib/export-error.ts';
import { count } from '../../lib/format-text.ts';
import { doubleQuoted } from '../../lib/sql-text.ts';
import type { LoadSession } from './load-session.ts';

/** The rows that a table must hold after a load. */
export interface WantedRows {
  /** The name of the table. */
  readonly table: string;
  readonly rows: number;
  /** The rows that count. */
  readonly where?: string;
  /** The table may hold more. */
  readonly orMore?: boolean;
}

/**
 * Looks at a table after the statements of a load: a trigger, a rule or a person may have removed rows.
 * @param wayOut what brings the table in order
 * @throws {ExportError} `loadFailed` when the table does not hold the rows
 */
export async function requireHeld(session: LoadSession, wanted: WantedRows, wayOut: string): Promise<void> {
  const { table, rows, where = 'TRUE', orMore = false } = wanted;
  const looked = `SELECT count(*) AS held FROM ${doubleQuoted(table)} AS held WHERE ${where}`;
  await session.refuseIf({
    query: `SELECT held FROM (${looked}) AS looked WHERE held ${orMore ? '<' : '<>'} ${rows}`,
    error: ([held]) => notHeld(table, Number(held), rows, wayOut),
  });
}

/** @param wayOut what brings the table in order */
function notHeld(table: string, held: number, rows: number, wayOut: string): ExportError {
  return new ExportError(
    'loadFailed',
    `the table ${table} would hold ${count(held)} of ${count(rows)} rows: ${wayOut}`,
    {
      todo: 'Rolled back. Rows were changed by hand, or a trigger, a rule or a policy of the table removes rows.',
    },
  );
}
