import { cellPair, compareAssets, isTime, showRowsOf, valuesText } from '../../../core/records/asset-changes.ts';
import { changesOf } from '../../../core/records/columns.ts';
import { messageOf } from '../../../lib/export-error.ts';
import { type Cell, type Column, isIdColumn, type Row } from '../../../core/records/table.ts';
import { doubleQuoted } from '../../../lib/sql-text.ts';
import type { DiffSession, DiffValue } from './diff-session.ts';
import { longestRowBytes } from '../../../exports/duckdb-files.ts';
import { columnsIn, type DiffSide, type DiffSides, readerIn, unexportedIn, valueSql } from './diff-sides.ts';

export interface FoundChanges {
  /** The newer export, as its rows are to be read. */
  readonly side: DiffSide;
  /** The columns of the rows: those of `changes`. */
  readonly columns: readonly Column[];
  /** Rows of `changes`, in the order of the newer export; deletes at the end, in the order of the older one. */
  rows(): AsyncGenerator<Row[], void, void>;
  /** What was counted while the rows were taken. */
  readonly counts: DiffCounts;
  /** Updates by column, in the order of the columns. */
  readonly perColumn: ReadonlyMap<string, number>;
  /** Columns that only one side has: they are not compared. */
  readonly uncompared: readonly string[];
}

export interface DiffCounts {
  inserted: number;
  updated: number;
  deleted: number;
  unchanged: number;
}

/**
 * Finds the assets that differ. DuckDB compares a hash of each row, so that memory holds keys and not rows; the rows of the assets that remain are
 * compared here, cell by cell. Where `assets` lacks the column of a child table's list, the rows of that are compared, too. The ids of
 * inserts and updates go into the table `kept`.
 * @param changedAtUs when the newer export began, in microseconds since 1970; null where that is not known
 */
export async function findChanges(
  session: DiffSession,
  sides: DiffSides,
  ignored: readonly string[],
  changedAtUs: number | null,
): Promise<FoundChanges> {
  const [before, after] = [columnsIn(sides.a, 'assets'), columnsIn(sides.b, 'assets')];
  const common = [...after.keys()].filter((name) => before.has(name));
  const uncompared = [...before.keys(), ...after.keys()].filter((name) => !(before.has(name) && after.has(name)));
  const hashed = common.filter((name) => !['id', 'fetched_at', 'exported_at', ...ignored].includes(name));
  const a = await withKeys(session, 'keys_a', sides.a, hashed);
  const b = await withKeys(session, 'keys_b', sides.b, hashed);
  const apart = childrenApart(sides, common);
  for (const name of apart) {
    await session.run(childKeysOf(`a_${name}`, a, name));
    await session.run(childKeysOf(`b_${name}`, b, name));
  }
  await session.run(pickedText(apart));
  const totals = await onlyRow(
    session,
    `SELECT (SELECT count(*) FROM keys_b), (SELECT count(*) FROM picked WHERE is_new)`,
  );
  for (const name of apart) await session.run(`DROP TABLE a_${name}; DROP TABLE b_${name}`);
  await session.run('DROP TABLE keys_a; DROP TABLE keys_b; CREATE TABLE kept (id VARCHAR)');
  // The rows are sorted when they are read.
  await session.run('SET preserve_insertion_order = false');
  await session.run(rowsText('old', a, 'is_old'));
  await session.run(rowsText('new', b, 'is_new'));
  await session.run(fatesText(b));
  const counts = { inserted: 0, updated: 0, deleted: 0, unchanged: Number(totals[0]) - Number(totals[1]) };
  const perColumn = new Map<string, number>();
  const layout = { before: [...before.values()], after: [...after.values()] };
  const places = [...after.keys()].map((name) => [...before.keys()].indexOf(name));
  const changeIn = changeMaker(layout, places, [...ignored, ...uncompared], changedAtUs);
  const add = ({ count, changed }: Change): void => {
    counts[count] += 1;
    for (const name of changed) perColumn.set(name, (perColumn.get(name) ?? 0) + 1);
  };
  return {
    columns: changesOf(layout.after).columns,
    side: b,
    counts,
    perColumn,
    uncompared,
    rows: async function* () {
      const kept = await session.append('kept');
      for await (const found of session.rows(streamText(layout))) {
        const rows = found.flatMap((values) => {
          const change = changeIn(values);
          add(change);
          if (change.row === undefined) return [];
          if (change.count !== 'deleted') kept.add(String(values[0]));
          return [change.row];
        });
        if (rows.length > 0) yield rows;
      }
      kept.end();
    },
  };
}

/** Fills a table of keys. The side is read with larger buffers from then on where a row is too long for the usual ones. */
async function withKeys(
  session: DiffSession,
  table: string,
  side: DiffSide,
  hashed: readonly string[],
): Promise<DiffSide> {
  try {
    await session.run(keysOf(table, side, hashed));
    return side;
  } catch (error) {
    if (side.format !== 'csv' || !/line size/i.test(messageOf(error))) throw error;
    const patient = { ...side, longestRow: longestRowBytes };
    await session.run(`SET threads = 1; SET memory_limit = '4GB'`);
    await session.run(keysOf(table, patient, hashed));
    return patient;
  }
}

/** What `keys` says of a side: the place, the id and the hash of each row. */
function keysOf(table: string, side: DiffSide, hashed: readonly string[]): string {
  const columns = columnsIn(side, 'assets');
  const chosen = hashed.flatMap((name) => columns.get(name) ?? []);
  return `CREATE TABLE ${table} AS SELECT row_number() OVER () AS n, ${idOf(side)} AS id, ${hashOf(chosen)} AS h FROM ${assetsOf(side)}`;
}

/** A hash of the values of a row. */
function hashOf(columns: readonly Column[]): string {
  const isText = ({ type }: Column): boolean => type === 'string' || type === 'json';
  const texts = columns.filter(isText).map((column) => valueSql(column));
  const others = columns.filter((column) => !isText(column)).map((column) => valueSql(column));
  // Lengths and numbers first, each with an end, then the texts: no two rows have the same.
  const parts = [...texts.map((text) => `strlen(${text}), '|'`), ...others.map((value) => `${value}, '|'`), ...texts];
  return parts.length === 0 ? '0' : `md5_number(concat(${parts.join(', ')}))`;
}

/** The child tables of both sides whose list is no column of `assets` in both: what changed in them does not show there. */
function childrenApart({ a, b }: DiffSides, common: readonly string[]): string[] {
  const columns = [...columnsIn(b, 'assets')].flatMap(([name, column]) => (common.includes(name) ? [column] : []));
  return [...b.finished.tables.values()].flatMap((table) => {
    const areInBoth = [a, b].every((side) => readerIn(side, table.name) !== undefined);
    return areInBoth && !showRowsOf(table, columns, []) ? [table.name] : [];
  });
}

/** A hash of all rows of a child table for each asset. No two of them are the same: each has its position. */
function childKeysOf(table: string, side: DiffSide, name: string): string {
  const columns = [...columnsIn(side, name).values()].filter((column) => !isTime(column));
  const id = doubleQuoted(columns[0]?.name ?? '');
  return `CREATE TABLE ${table} AS SELECT ${id} AS id, bit_xor(${hashOf(columns)}) AS h FROM ${readerIn(side, name) ?? ''} GROUP BY 1`;
}

/** @param apart child tables whose rows are compared; the column `apart` has the names of those that differ */
function pickedText(apart: readonly string[]): string {
  const joins = apart.map(
    (name) => ` LEFT JOIN a_${name} ON a_${name}.id = a.id LEFT JOIN b_${name} ON b_${name}.id = b.id`,
  );
  const differs = apart.map((name) => `a_${name}.h IS DISTINCT FROM b_${name}.h`);
  const names = apart.map((name, index) => `, CASE WHEN ${differs[index] ?? ''} THEN '${name},' END`);
  return `CREATE TABLE picked AS
SELECT row_number() OVER (ORDER BY b.n IS NULL, b.n, a.n) AS k, coalesce(b.id, a.id) AS id, a.n IS NOT NULL AS is_old, b.n IS NOT NULL AS is_new, concat(''${names.join('')}) AS apart
FROM keys_a a FULL JOIN keys_b b ON a.id = b.id${joins.join('')} WHERE ${['a.h IS DISTINCT FROM b.h', ...differs].join(' OR ')}`;
}

function rowsText(table: 'old' | 'new', side: DiffSide, flag: string): string {
  const columns = [...columnsIn(side, 'assets').values()];
  const values = columns.map((column, index) => `${valueSql(column, 'r.')} AS c${index}`);
  return `CREATE TABLE ${table} AS SELECT p.k AS k, ${values.join(', ')} FROM ${assetsOf(side)} AS r JOIN picked p ON p.id = r.${idOf(side)} WHERE p.${flag}`;
}

function fatesText(side: DiffSide): string {
  return `CREATE TABLE fates AS SELECT id, min(outcome) AS outcome FROM ${unexportedIn(side)}
WHERE outcome IN ('missing', 'failed') AND id IN (SELECT id FROM picked WHERE NOT is_new) GROUP BY id`;
}

interface Layout {
  readonly before: readonly Column[];
  readonly after: readonly Column[];
}

function streamText({ before, after }: Layout): string {
  const cells = [...before.map((_, index) => `o.c${index}`), ...after.map((_, index) => `w.c${index}`)];
  return `SELECT p.id, p.is_old, p.is_new, f.outcome, p.apart, ${cells.join(', ')} FROM picked p
LEFT JOIN old o ON o.k = p.k LEFT JOIN new w ON w.k = p.k LEFT JOIN fates f ON f.id = p.id ORDER BY p.k`;
}

interface Change {
  readonly count: keyof DiffCounts;
  readonly changed: readonly string[];
  readonly row: Row | undefined;
}

/** @param places where each column of the newer export stands in the older one; -1 for none */
function changeMaker(
  { before, after }: Layout,
  places: readonly number[],
  ignored: readonly string[],
  changedAtUs: number | null,
): (values: readonly DiffValue[]) => Change {
  const compare = compareAssets(after, ignored);
  const kept = before.flatMap((column, place) => (isTime(column) ? [] : [place]));
  const id = after.findIndex(isIdColumn);
  return (values) => {
    const [assetId, isOld, isNew, fate, apart, ...cells] = values;
    const old = before.map((column, index) => cellOf(cells[index] ?? null, column));
    const now = after.map((column, index) => cellOf(cells[before.length + index] ?? null, column));
    const rest = now.filter((_, place) => place !== id);
    if (isNew !== true) {
      const nothing = rest.map(() => null);
      const reason = typeof fate === 'string' ? fate : 'unlisted';
      return {
        count: 'deleted',
        changed: [],
        row: ['delete', reason, changedAtUs, String(assetId), null, valuesText(before, old, kept), ...nothing],
      };
    }
    if (isOld !== true)
      return {
        count: 'inserted',
        changed: [],
        row: ['insert', null, changedAtUs, String(assetId), null, null, ...rest],
      };
    const was = places.map((place) => old[place] ?? null);
    const differing = compare(cellPair(was, now));
    const children = String(apart)
      .split(',')
      .filter((name) => name !== '');
    const changed = [...differing.map((place) => after[place]?.name ?? ''), ...children];
    if (changed.length === 0) return { count: 'unchanged', changed, row: undefined };
    const text = valuesText(after, was, differing);
    const row = ['update', null, changedAtUs, String(assetId), JSON.stringify(changed), text, ...rest];
    return { count: 'updated', changed, row };
  };
}

/** The cell for a value of a query. */
export function cellOf(value: DiffValue, { type }: Column): Cell {
  if (value === null) return null;
  const number = type === 'decimal' ? BigInt(value) : value;
  if (typeof number !== 'bigint') return number;
  return number >= Number.MIN_SAFE_INTEGER && number <= Number.MAX_SAFE_INTEGER ? Number(number) : number;
}

function assetsOf(side: DiffSide): string {
  return readerIn(side, 'assets') ?? '';
}

function idOf(side: DiffSide): string {
  return doubleQuoted(columnsIn(side, 'assets').get('id')?.name ?? '');
}

async function onlyRow(session: DiffSession, sql: string): Promise<DiffValue[]> {
  for await (const [row = []] of session.rows(sql)) return row;
  return [];
}
