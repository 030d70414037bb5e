import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import { moment } from './database.ts';

export const loadModes = ['replace', 'scd2'] as const;
export type LoadMode = (typeof loadModes)[number];

/** What becomes of assets that the export does not have. */
export const deleteRules = ['delete', 'keep', 'mark'] as const;
export type DeleteRule = (typeof deleteRules)[number];

/** How rows got into the tables, as `_asset_export_loads` records it. */
export type LoadWay = 'by changes' | 'by comparing' | 'into empty tables' | 'new file';

/** The table in which each load records what the tables hold now: a row a table. It has no prefix. */
export const loadsTable = '_asset_export_loads';

/** What a load brought to a table. */
export interface TableRecord {
  /** Its name in the database. */
  readonly table: string;
  /** Rows of the export. */
  readonly rows: number;
  /** Rows that the load removed. */
  readonly deleted: number;
  /** Names of the columns that the export fills. */
  readonly columns: readonly string[];
  /** NUL characters that were removed or replaced, by column. */
  readonly nulValues?: Readonly<Record<string, number>>;
}

export interface LoadRecord {
  readonly mode: LoadMode;
  readonly way: LoadWay;
  /** What the tables hold. */
  readonly seal: string;
  /** What they held before its changes. */
  readonly baseSeal: string | null;
  /** The folder name of the export. */
  readonly name: string;
  /** When the export began, in milliseconds since 1970; undefined where it does not say so. */
  readonly startedAtMs: number | undefined;
  readonly tables: readonly TableRecord[];
}

/** Columns that version 0.1 did not have. */
export const addedRecordColumns: readonly (readonly [name: string, type: string])[] = [
  ['export', 'text'],
  ['started_at', 'timestamp with time zone'],
  ['rows', 'bigint'],
  ['deleted', 'bigint'],
  ['nul_values', 'text'],
  ['way', 'text'],
  ['columns', 'text'],
];

const recordColumns = ['seal', 'base_seal', 'mode', 'at', ...addedRecordColumns.map(([name]) => name)];

/** Records a load of these tables, in its transaction. */
export function recordLoad({ mode, way, seal, baseSeal, name, startedAtMs, tables }: LoadRecord): string {
  const started = startedAtMs === undefined ? 'NULL' : moment(startedAtMs);
  const row = ({ table, rows, deleted, columns, nulValues = {} }: TableRecord): string => {
    const named = [literal(table), literal(seal), text(baseSeal), literal(mode), 'CURRENT_TIMESTAMP', literal(name)];
    const nul = Object.keys(nulValues).length === 0 ? null : JSON.stringify(nulValues);
    const how = [text(nul), literal(way), literal(JSON.stringify(columns))];
    return `(${[...named, started, rows, deleted, ...how].join(', ')})`;
  };
  const set = recordColumns.map((column) => `${doubleQuoted(column)} = excluded.${doubleQuoted(column)}`);
  return `INSERT INTO ${doubleQuoted(loadsTable)} ("table", ${recordColumns.map(doubleQuoted).join(', ')}) VALUES
  ${tables.map(row).join(',\n  ')}
ON CONFLICT ("table") DO UPDATE SET ${set.join(', ')};
`;
}

/** Moves the record of tables to a later export of the same content. @param tables their names in the database */
export function moveRecord(
  { seal, name, startedAtMs }: { readonly seal: string; readonly name: string; readonly startedAtMs: number },
  tables: readonly string[],
): string {
  const started = moment(startedAtMs);
  return `UPDATE ${doubleQuoted(loadsTable)} SET "at" = CURRENT_TIMESTAMP, export = ${literal(name)}, started_at = ${started}
WHERE seal = ${literal(seal)} AND "table" IN (${tables.map(literal).join(', ')}) AND (started_at IS NULL OR started_at < ${started});
`;
}

function text(value: string | null): string {
  return value === null ? 'NULL' : literal(value);
}
