import type { CountedChange } from '../warehouse/index.ts';
import type { Column, ColumnType, Table } from '../../core/records/table.ts';
import { doubleQuoted } from '../../lib/sql-text.ts';
import type { DatabaseKind } from './database.ts';

/** A table, and the stage that has the rows of the export. */
export interface StagedTable {
  readonly table: Table;
  readonly stage: string;
  /** The columns that identify a row; undefined where there are none, empty where the table lacks them. */
  readonly key: readonly string[] | undefined;
  /** A condition of the rows of the stage that are updated and inserted. */
  readonly only?: string;
}

/** Rows of a table whose key the stage lacks, behind FROM: all of them where the table lacks the key. */
export function rowsNotStaged({ table, stage, key = [] }: StagedTable): string {
  if (key.length === 0) return `${doubleQuoted(table.name)} AS held WHERE TRUE`;
  return `${doubleQuoted(table.name)} AS held WHERE NOT EXISTS (SELECT 1 FROM ${doubleQuoted(stage)} AS staged WHERE ${sameKey(key)})`;
}

/** What brings a table to the rows of its stage. */
export interface Difference {
  /** Removes rows whose key another row has too: a table in DuckDB has no key. */
  readonly removeTwins: string | undefined;
  readonly remove: string;
  readonly update: Update | undefined;
  readonly insert: CountedChange;
}

/** What brings rows of a table to those of its stage. */
interface Update {
  /** Makes a temporary table of the keys of the rows that differ: they are compared once. */
  readonly list: string;
  readonly change: CountedChange;
  readonly dropList: string;
}

const changedKeys = 'asset_export_changed';

/** Unchanged rows stay as they are, and so do columns of the user in updated rows. */
export function differenceOf(kind: DatabaseKind, staged: StagedTable): Difference {
  const { table, stage, key, only = 'TRUE' } = staged;
  const [target, source] = [doubleQuoted(table.name), doubleQuoted(stage)];
  const names = table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  const insertWhere = (condition: string): CountedChange => {
    const rows = `${source} AS staged WHERE ${condition}`;
    return { table: table.name, sql: `INSERT INTO ${target} (${names})\nSELECT ${names} FROM ${rows};\n`, rows };
  };
  if (key === undefined) {
    return { removeTwins: undefined, remove: `DELETE FROM ${target};\n`, update: undefined, insert: insertWhere(only) };
  }
  const keys = key.map(doubleQuoted).join(', ');
  const twins = `SELECT ${keys} FROM ${target} GROUP BY ${keys} HAVING count(*) > 1`;
  const absent = `NOT EXISTS (SELECT 1 FROM ${target} AS held WHERE ${sameKey(key)})`;
  return {
    removeTwins: `DELETE FROM ${target} WHERE (${keys}) IN (${twins});\n`,
    remove: `DELETE FROM ${rowsNotStaged(staged)};\n`,
    update: updateOf(kind, staged, key),
    insert: insertWhere(`${absent} AND ${only}`),
  };
}

function updateOf(kind: DatabaseKind, staged: StagedTable, key: readonly string[]): Update | undefined {
  const { table, stage, only = 'TRUE' } = staged;
  const values = table.columns.filter(({ name }) => !key.includes(name));
  if (values.length === 0) return undefined;
  const row = (alias: string): string =>
    values
      .map((column) => `${alias}.${doubleQuoted(column.name)}${kind === 'postgres' ? asCompared(column) : ''}`)
      .join(', ');
  const [target, source, list] = [doubleQuoted(table.name), doubleQuoted(stage), doubleQuoted(changedKeys)];
  const keys = key.map((name) => `staged.${doubleQuoted(name)}`).join(', ');
  const set = values.map(({ name }) => `${doubleQuoted(name)} = staged.${doubleQuoted(name)}`).join(', ');
  const differs = `${sameKey(key)} AND (${row('held')}) IS DISTINCT FROM (${row('staged')}) AND ${only}`;
  const listed = `(${keys}) IN (SELECT ${key.map(doubleQuoted).join(', ')} FROM ${list})`;
  return {
    list: `CREATE TEMPORARY TABLE ${list} AS SELECT ${keys}\nFROM ${target} AS held, ${source} AS staged\nWHERE ${differs};\n`,
    change: {
      table: table.name,
      sql: `UPDATE ${target} AS held SET ${set}\nFROM ${source} AS staged\nWHERE ${sameKey(key)} AND ${listed};\n`,
      rows: list,
    },
    dropList: `DROP TABLE ${list};\n`,
  };
}

/** Types whose equal values are the same, also where a user chose another type. */
const exactTypes: ReadonlySet<ColumnType> = new Set(['boolean', 'int64', 'decimal', 'timestamp']);

/**
 * How PostgreSQL compares a column: by its bytes. For citext and some collations unlike texts are equal, for jsonb 1.0 and 1.00 are, and json
 * has no equality.
 */
function asCompared({ type }: Column): string {
  return exactTypes.has(type) ? '' : '::text COLLATE "C"';
}

function sameKey(key: readonly string[]): string {
  return key.map((name) => `staged.${doubleQuoted(name)} = held.${doubleQuoted(name)}`).join(' AND ');
}
