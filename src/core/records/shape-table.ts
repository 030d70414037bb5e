import { assetsTable, changesOf, changesTable, fetchedAt, proofColumns } from './columns.ts';
import { MadeText } from './texts.ts';
import { type RowBlock, RowBlockBuilder } from './row-block.ts';
import type { Column, Table } from './table.ts';
import type { Verdicts } from './proofs/prove-row.ts';

/** What a job makes of the tables. Names are those of `assets` before they are changed. */
export interface TableShape {
  /** Columns of `assets`, in this order; all when absent. */
  readonly columns?: readonly string[] | undefined;
  readonly exclude: readonly string[];
  readonly rename: Readonly<Record<string, string>>;
  /** When the export began, in microseconds since 1970 (UTC): the value of `exported_at`, which every table has then. */
  readonly exportedAtUs?: number;
  /** Whether `assets` and `changes` have the column `fetched_at`. */
  readonly hasFetchedAt?: boolean;
  /** Whether `assets` and `changes` have the columns of proofs: then `readyProver` is awaited before rows are picked. */
  readonly hasProofs?: boolean | undefined;
}

/** A table as it is written. */
export interface ShapedTable {
  readonly table: Table;
  /** The table as the column table has it. */
  readonly whole: Table;
  /**
   * The cells that are written of rows of the whole table.
   * @param fetchedAtUs when each row was requested, by its place in the block, in microseconds since 1970: for `fetched_at`;
   * undefined where there is no row as it is now
   */
  readonly pick: (block: RowBlock, fetchedAtUs?: (row: number) => number | undefined) => RowBlock;
}

export const exportedAt: Column = {
  name: 'exported_at',
  fieldId: 102,
  type: 'timestamp',
  nullable: false,
  path: [],
  about: 'Start of the export, UTC.',
};

/** The whole tables, as a job that says nothing of columns writes them. */
export const wholeTables: TableShape = { exclude: [], rename: {} };

/** Applies a job's choice of columns to `assets`. Child tables keep all columns; only `exported_at` may be added. */
export function shapeTable(table: Table, shape: TableShape): ShapedTable {
  if (table === changesTable) return shapeChanges(shape);
  const isAssets = table.name === assetsTable.name;
  const stamps = [
    ...(isAssets && shape.hasProofs === true ? proofColumns : []),
    ...(isAssets && shape.hasFetchedAt === true ? [fetchedAt] : []),
    ...(shape.exportedAtUs === undefined ? [] : [exportedAt]),
  ];
  const all = [...table.columns, ...stamps];
  const kept = isAssets ? keptColumns(all, shape) : all;
  const places = kept.map((column) => all.indexOf(column));
  const columns = isAssets ? kept.map((column) => renamedColumn(column, shape)) : kept;
  const stamp = Buffer.from(shape.exportedAtUs === undefined ? '' : String(shape.exportedAtUs));
  const shaped = { table: { ...table, columns }, whole: table };
  const isWhole = places.length === table.columns.length && places.every((place, index) => place === index);
  if (isWhole) return { ...shaped, pick: (block) => block };
  return { ...shaped, pick: cellPicker(kept, places, stamp) };
}

const neverFetched = (): undefined => undefined;

/** The columns of `changes` are those of `assets` as the job has them, behind those of its own. */
function shapeChanges(shape: TableShape): ShapedTable {
  const assets = shapeTable(assetsTable, shape).table.columns;
  const pick = (): RowBlock => {
    throw new Error('rows of changes are made of two rows of assets');
  };
  return { table: changesOf(assets), whole: changesTable, pick };
}

/** @param places the cells of a row, by their place in the whole one: those of columns that a record does not fill lie behind its end */
function cellPicker(kept: readonly Column[], places: readonly number[], stamp: Uint8Array): ShapedTable['pick'] {
  const [timeAt, stampAt, ...proofsAt] = [fetchedAt, exportedAt, ...proofColumns].map((column) => kept.indexOf(column));
  const hasProofs = proofsAt.some((place) => place >= 0);
  return (block, times = neverFetched) => {
    const { made } = block;
    const picked = new RowBlockBuilder(places.length, block.rows, new MadeText(Buffer.concat([made, stamp])));
    const setTime = timeSetter(picked);
    for (let row = 0; row < block.rows; row += 1) {
      const base = picked.addRow();
      copyCells(picked, block, row, places);
      if (timeAt !== undefined && timeAt >= 0) setTime(base + timeAt, times(row));
      if (stampAt !== undefined && stampAt >= 0) picked.setSpan(base + stampAt, ~made.length, stamp.length);
      if (!hasProofs) continue;
      for (const [index, verdict] of verdictsOf(block, row).entries()) {
        const place = proofsAt[index] ?? -1;
        if (verdict !== null && place >= 0) picked.setCell(base + place, verdict, 'boolean');
      }
    }
    return picked.block(block.source);
  };
}

/** Copies those cells of a row that the whole table has. */
function copyCells(picked: RowBlockBuilder, block: RowBlock, row: number, places: readonly number[]): void {
  const { width, from, length, marks } = block;
  const [base, whole] = [row * places.length, row * width];
  for (let index = 0; index < places.length; index += 1) {
    const place = places[index] ?? 0;
    if (place >= width) continue;
    picked.from[base + index] = from[whole + place] ?? 0;
    picked.length[base + index] = length[whole + place] ?? -1;
    picked.marks[base + index] = marks[whole + place] ?? 0;
  }
}

/** Puts times into cells: most are that of the row before. */
function timeSetter(picked: RowBlockBuilder): (cell: number, us: number | undefined) => void {
  let last: number | undefined;
  let lastCell = 0;
  return (cell, us) => {
    if (us === undefined) return;
    if (us === last) picked.setSpan(cell, picked.from[lastCell] ?? 0, picked.length[lastCell] ?? 0);
    else picked.setText(cell, String(us), false);
    last = us;
    lastCell = cell;
  };
}

function keptColumns(all: readonly Column[], { columns, exclude }: TableShape): Column[] {
  const named = columns?.flatMap((name) => all.filter((column) => column.name === name));
  const chosen = named ?? all;
  // A list of columns is about the record's; times and proofs were asked for by themselves.
  const added = [fetchedAt, exportedAt, ...proofColumns];
  const stamp = all.filter((column) => added.includes(column) && !chosen.includes(column));
  return [...chosen, ...stamp].filter(({ name }) => !exclude.includes(name));
}

function renamedColumn(column: Column, { rename }: TableShape): Column {
  const name = Object.hasOwn(rename, column.name) ? rename[column.name] : undefined;
  return name === undefined || name === column.name ? column : { ...column, name, from: column.name };
}

let prover: ((block: RowBlock, row: number) => Verdicts) | undefined;

/** Loads what computes hashes, where rows are to prove themselves. Awaited before the first row is made. */
export async function readyProver({ proofs }: { readonly proofs: boolean }): Promise<void> {
  if (proofs) prover ??= (await import('./proofs/prove-row.ts')).proveRow;
}

/** The verdicts of a row of the whole table `assets`. */
function verdictsOf(block: RowBlock, row: number): Verdicts {
  if (prover === undefined) throw new Error('readyProver was not awaited');
  return prover(block, row);
}
