import type { Table } from '../../core/records/table.ts';
import { doubleQuoted } from '../../lib/sql-text.ts';
import type { DatabaseKind } from './database.ts';

/** A table, and the stage that has the rows of the export. */
export interface StagedTable {
  readonly table: Table;
  readonly stage: string;
  /** The columns that identify a row; undefined where there are none. */
  readonly key: readonly string[] | undefined;
  /** A condition of every statement that changes the table. */
  readonly isComplete: string;
}

/** The name of the stage of a table: without a schema, because it is temporary. @param name of the table in the export */
export function stageName(name: string): string {
  return `asset_export_stage_${name}`;
}

/** Creates the stage of a table. Its columns have the types of the table, which a user may have changed. */
export function createStage({ table, stage }: Pick<StagedTable, 'table' | 'stage'>): string {
  const names = table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  return `CREATE TEMPORARY TABLE ${doubleQuoted(stage)} AS SELECT ${names} FROM ${doubleQuoted(table.name)} WITH NO DATA;\n`;
}

/** Rows of a table whose key the stage lacks, behind FROM. */
export function rowsNotStaged({ table, stage, key = [] }: StagedTable): string {
  return `${doubleQuoted(table.name)} AS held WHERE NOT EXISTS (SELECT 1 FROM ${doubleQuoted(stage)} AS staged WHERE ${sameKey(key)})`;
}

/** What brings a table to the rows of its stage. */
export interface Difference {
  /** Removes rows whose key another row has too: after `append` keys need not be unique. */
  readonly removeTwins: string | undefined;
  readonly remove: string;
  readonly update: string | undefined;
  readonly insert: string;
}

/** Unchanged rows stay as they are, and so do columns of the user in updated rows. */
export function differenceOf(kind: DatabaseKind, staged: StagedTable): Difference {
  const { table, stage, key, isComplete } = staged;
  const [target, source] = [doubleQuoted(table.name), doubleQuoted(stage)];
  const names = table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  const insert = `INSERT INTO ${target} (${names})\nSELECT ${names} FROM ${source} AS staged WHERE `;
  if (key === undefined) {
    const remove = `DELETE FROM ${target} WHERE ${isComplete};\n`;
    return { removeTwins: undefined, remove, update: undefined, insert: `${insert}${isComplete};\n` };
  }
  const keys = key.map(doubleQuoted).join(', ');
  const twins = `SELECT ${keys} FROM ${target} GROUP BY ${keys} HAVING count(*) > 1`;
  const absent = `NOT EXISTS (SELECT 1 FROM ${target} AS held WHERE ${sameKey(key)})`;
  return {
    removeTwins: `DELETE FROM ${target} WHERE (${keys}) IN (${twins}) AND ${isComplete};\n`,
    remove: `DELETE FROM ${rowsNotStaged(staged)} AND ${isComplete};\n`,
    update: updateOf(kind, staged, key),
    insert: `${insert}${absent} AND ${isComplete};\n`,
  };
}

function updateOf(kind: DatabaseKind, { table, stage, isComplete }: StagedTable, key: readonly string[]) {
  const values = table.columns.filter(({ name }) => !key.includes(name));
  if (values.length === 0) return undefined;
  // PostgreSQL has no equality of json.
  const isJson = (column: (typeof values)[number]): boolean => kind === 'postgres' && column.type === 'json';
  const row = (alias: string): string =>
    values.map((column) => `${alias}.${doubleQuoted(column.name)}${isJson(column) ? '::text' : ''}`).join(', ');
  const set = values.map(({ name }) => `${doubleQuoted(name)} = staged.${doubleQuoted(name)}`).join(', ');
  return `UPDATE ${doubleQuoted(table.name)} AS held SET ${set}
FROM ${doubleQuoted(stage)} AS staged
WHERE ${sameKey(key)} AND (${row('held')}) IS DISTINCT FROM (${row('staged')}) AND ${isComplete};\n`;
}

function sameKey(key: readonly string[]): string {
  return key.map((name) => `staged.${doubleQuoted(name)} = held.${doubleQuoted(name)}`).join(' AND ');
}
