import { literal } from '../../lib/sql-text.ts';

/** A moment, in milliseconds since 1970, as an expression of DuckDB and PostgreSQL. */
export function moment(ms: number): string {
  return `CAST(${literal(new Date(ms).toISOString())} AS timestamp with time zone)`;
}

/** The body of a DO statement of PostgreSQL. */
export function postgresBlock(body: string): string {
  return `DO ${literal(`BEGIN ${body} END`)};\n`;
}
