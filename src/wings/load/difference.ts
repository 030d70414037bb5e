import type { Column, ColumnType, Table } from '../../core/records/table.ts';
import { wholeName } from '../../core/records/table.ts';
import { cellPair, compareAssets, isTime } from '../../core/records/asset-changes.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import type { DatabaseKind } from './database.ts';
import type { LoadSession } from './load-session.ts';

/** A table, and the stage that has rows of the export for it. In conditions its rows are `held`, those of the stage `staged`. */
export interface StagedTable {
  readonly table: Table;
  readonly stage: string;
  /** The columns that identify a row; undefined where there are none, empty where the table lacks them. */
  readonly key: readonly string[] | undefined;
  /** The rows of the stage that the table is to hold. */
  readonly only: string;
  /** The rows of the table that are compared. */
  readonly among: string;
  /** The compared rows that the export does not have; absent: those whose key the stage lacks. */
  readonly gone?: string;
  /** Columns, and paths in `extra`, in which alone a row does not change. */
  readonly ignored: readonly string[];
}

/** Rows of a table that the export does not have, behind FROM: all of them where the table lacks the key. */
export function goneRows({ table, stage, key = [], among, gone, only }: StagedTable): string {
  const held = `${doubleQuoted(table.name)} AS held WHERE ${among}`;
  if (gone !== undefined) return `${held} AND ${gone}`;
  if (key.length === 0) return held;
  return `${held} AND NOT EXISTS (SELECT 1 FROM ${doubleQuoted(stage)} AS staged WHERE ${sameKey(key)} AND ${only})`;
}

/** Rows of a stage that the table lacks, behind FROM. */
export function absentRows({ table, stage, key = [], among, only }: StagedTable): string {
  const held = `SELECT 1 FROM ${doubleQuoted(table.name)} AS held WHERE ${among}`;
  const absent = key.length === 0 ? '' : ` AND NOT EXISTS (${held} AND ${sameKey(key)})`;
  return `${doubleQuoted(stage)} AS staged WHERE ${only}${absent}`;
}

const changedKeys = 'asset_export_changed';

/** Candidates of one INSERT. */
const keysPerInsert = 1000;

/**
 * Makes a temporary table of the keys of the rows that differ: they are compared once. Its name; undefined where no column can differ.
 * Members of `extra` that do not count are looked at here, as all commands do that compare assets.
 */
export async function listChanged(session: LoadSession, staged: StagedTable): Promise<string | undefined> {
  const { table, stage, key = [], among, only, ignored } = staged;
  const isCompared = (column: Column): boolean =>
    !key.includes(column.name) && !isTime(column) && !ignored.includes(wholeName(column));
  const compared = table.columns.filter(isCompared);
  if (compared.length === 0) return undefined;
  const hasPaths = ignored.some((name) => name.startsWith('extra.'));
  const extra = hasPaths ? compared.find((column) => wholeName(column) === 'extra') : undefined;
  const keys = key.map((name) => `staged.${doubleQuoted(name)}`).join(', ');
  const both = `FROM ${doubleQuoted(table.name)} AS held, ${doubleQuoted(stage)} AS staged\nWHERE ${sameKey(key)} AND ${among} AND ${only}`;
  const differs = differing(
    session.kind,
    compared.filter((column) => column !== extra),
  );
  const list = doubleQuoted(changedKeys);
  await session.run(`CREATE TEMPORARY TABLE ${list} AS SELECT ${keys}\n${both} AND ${differs};\n`);
  if (extra === undefined) return changedKeys;
  const texts = ['held', 'staged'].map((row) => `CAST(${row}.${doubleQuoted(extra.name)} AS text)`).join(', ');
  const compare = compareAssets([extra], ignored);
  const found: string[] = [];
  const pairs = `SELECT ${keys}, ${texts} ${both} AND NOT ${differs} AND ${differing(session.kind, [extra])}`;
  for await (const rows of session.pages(pairs)) {
    for (const [id, before, after] of rows) {
      if (compare(cellPair([textCell(before)], [textCell(after)])).length > 0) found.push(`(${literal(String(id))})`);
    }
  }
  while (found.length > 0) {
    await session.run(`INSERT INTO ${list} VALUES ${found.splice(0, keysPerInsert).join(', ')};\n`);
  }
  return changedKeys;
}

function textCell(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Whether rows differ in one of these columns. */
function differing(kind: DatabaseKind, columns: readonly Column[]): string {
  const row = (alias: string): string =>
    columns
      .map((column) => `${alias}.${doubleQuoted(column.name)}${kind === 'postgres' ? asCompared(column) : ''}`)
      .join(', ');
  return columns.length === 0 ? 'FALSE' : `((${row('held')}) IS DISTINCT FROM (${row('staged')}))`;
}

/** Brings the listed rows to those of the stage. Columns of the user keep their values. */
export function updateListed({ table, stage, key = [], among, only }: StagedTable, list: string): string {
  const values = table.columns.filter(({ name }) => !key.includes(name)).map(({ name }) => doubleQuoted(name));
  const set = values.map((name) => `${name} = staged.${name}`).join(', ');
  const [keys, names] = [key.map((name) => `staged.${doubleQuoted(name)}`), key.map(doubleQuoted)];
  const listed = `(${keys.join(', ')}) IN (SELECT ${names.join(', ')} FROM ${doubleQuoted(list)})`;
  return `UPDATE ${doubleQuoted(table.name)} AS held SET ${set}\nFROM ${doubleQuoted(stage)} AS staged\nWHERE ${sameKey(key)} AND ${among} AND ${only} AND ${listed};\n`;
}

/** @param rows of the stage, behind FROM @param fixed columns that have one value in all rows */
export function insertStaged({ name, columns }: Table, rows: string, fixed: Readonly<Record<string, string>> = {}) {
  const names = columns.map((column) => doubleQuoted(column.name));
  const into = [...names, ...Object.keys(fixed).map(doubleQuoted)].join(', ');
  const values = [...names.map((column) => `staged.${column}`), ...Object.values(fixed)].join(', ');
  return { table: name, sql: `INSERT INTO ${doubleQuoted(name)} (${into})\nSELECT ${values} FROM ${rows};\n`, rows };
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

export function sameKey(key: readonly string[]): string {
  return key.map((name) => `staged.${doubleQuoted(name)} = held.${doubleQuoted(name)}`).join(' AND ');
}
