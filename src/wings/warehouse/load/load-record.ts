import { doubleQuoted, literal } from '../../../lib/sql-text.ts';

/** The table in which each load records what the tables hold now: a row a table. It has no prefix. */
export const loadsTable = '_asset_export_loads';

export interface LoadRecord {
  readonly mode: string;
  /** What the tables hold; null where that is not one export. */
  readonly seal: string | null;
  /** What they held before it was merged. */
  readonly baseSeal: string | null;
}

export const createLoadsTable = `CREATE TABLE IF NOT EXISTS ${doubleQuoted(loadsTable)} (
  "table"   text PRIMARY KEY,
  seal      text,
  base_seal text,
  mode      text NOT NULL,
  "at"      timestamp with time zone NOT NULL
);
`;

/** Records a load of these tables, in its transaction. */
export function recordLoad(tables: readonly string[], { mode, seal, baseSeal }: LoadRecord): string {
  const text = (value: string | null): string => (value === null ? 'NULL' : literal(value));
  const row = (table: string): string =>
    `(${[literal(table), text(seal), text(baseSeal), literal(mode), 'CURRENT_TIMESTAMP'].join(', ')})`;
  return `INSERT INTO ${doubleQuoted(loadsTable)} ("table", seal, base_seal, mode, "at") VALUES
  ${tables.map(row).join(',\n  ')}
ON CONFLICT ("table") DO UPDATE SET seal = excluded.seal, base_seal = excluded.base_seal, mode = excluded.mode, "at" = excluded."at";
`;
}
