import type { AssetChange, BatchOrigins } from './batch-origins.ts';
import { isTime } from '../records/asset-changes.ts';
import { assetsTable, changedAt, proofColumns } from '../records/columns.ts';
import { type ShapedTable } from '../records/shape-table.ts';
import { type RowBlock, RowBlockBuilder, textOfCell } from '../records/row-block.ts';
import type { RecordRows } from '../records/scan/record-rows.ts';
import { type Column, isIdColumn, wholeName } from '../records/table.ts';

/** The row of an asset, now or before, shaped as the job has it. */
interface ShapedRow {
  readonly block: RowBlock;
  readonly row: number;
}

/** The tables whose columns a row of `changes` has. */
export interface ChangeTables {
  readonly assets: ShapedTable;
  readonly changes: ShapedTable;
}

/** What differs between two rows, or that there is only one of them. */
export interface RowChange extends Pick<AssetChange, 'op' | 'columns'> {
  readonly reason?: string;
  readonly now?: ShapedRow;
  readonly before?: ShapedRow;
}

/** The rows of `changes` of a batch, in the order of its ids. */
export function changeRows(origins: BatchOrigins, tables: ChangeTables, startedAtUs: number): RowBlock | undefined {
  const { changes, now, before } = origins;
  const ofRecords = (records: RecordRows, places: readonly number[]): RowBlock | undefined =>
    places.length === 0 ? undefined : tables.assets.pick(records.rows(assetsTable, places), () => startedAtUs);
  const records = changes.flatMap(({ record }) => (record < 0 ? [] : [record]));
  const olds = changes.flatMap(({ old }) => (old < 0 ? [] : [old]));
  const nowBlock = ofRecords(now, records);
  const beforeBlock = ofRecords(before, olds);
  let nowRow = 0;
  let beforeRow = 0;
  const rows = changes.map(({ op, columns, reason, record, old }): RowChange => {
    return {
      op,
      columns,
      ...(reason === undefined ? {} : { reason }),
      ...(record < 0 || nowBlock === undefined ? {} : { now: { block: nowBlock, row: nowRow++ } }),
      ...(old < 0 || beforeBlock === undefined ? {} : { before: { block: beforeBlock, row: beforeRow++ } }),
    };
  });
  return changeBlock(rows, tables, startedAtUs);
}

/** Rows of `changes` as a block; undefined where there are none. @param startedAtUs when the newer export began, in microseconds since 1970 */
export function changeBlock(
  rows: readonly RowChange[],
  tables: ChangeTables,
  startedAtUs: number,
): RowBlock | undefined {
  const builder = new RowBlockBuilder(tables.changes.table.columns.length, Math.max(1, rows.length));
  const changedAtUs = String(startedAtUs);
  for (const row of rows) addRow(builder, { ...row, changedAtUs }, tables);
  return builder.rows === 0 ? undefined : builder.block(new Uint8Array(0));
}

function addRow(
  builder: RowBlockBuilder,
  change: RowChange & { readonly changedAtUs: string },
  { assets, changes }: ChangeTables,
): void {
  const written = assets.table.columns;
  const placeOf = (column: Column): number => written.findIndex(({ name }) => name === column.name);
  const changed = change.columns.flatMap((place) => {
    const name = assetsTable.columns[place]?.name;
    return written.filter((column) => wholeName(column) === name);
  });
  changed.push(...changedVerdicts(change, written));
  // What the job does not write is no change for who reads it.
  if (change.op === 'update' && changed.length === 0) return;
  const { now, before, op } = change;
  const base = builder.addRow();
  for (const [at, column] of changes.table.columns.entries()) {
    const cell = base + at;
    switch (column.name) {
      case 'op':
        builder.setText(cell, op, true);
        break;
      case 'reason':
        if (change.reason !== undefined) builder.setText(cell, change.reason, true);
        break;
      case changedAt.name:
        builder.setText(cell, change.changedAtUs, false);
        break;
      case 'changed':
        if (op === 'update') builder.setText(cell, JSON.stringify(changed.map(({ name }) => name)), false);
        break;
      case 'before':
        if (op !== 'insert' && before !== undefined)
          builder.setText(cell, beforeText(before, op === 'delete' ? rowColumns(written) : changed, placeOf), false);
        break;
      default: {
        const from = isIdColumn(column) ? (now ?? before) : now;
        if (from !== undefined) copyCell(builder, cell, from, placeOf(column));
      }
    }
  }
}

/** Verdicts are made of both rows as the table has them. */
function changedVerdicts({ op, now, before }: RowChange, written: readonly Column[]): Column[] {
  if (op !== 'update' || now === undefined || before === undefined) return [];
  const textAt = ({ block, row }: ShapedRow, place: number) => textOfCell(block, row * block.width + place);
  return written.filter((column, place) => {
    const isVerdict = proofColumns.some(({ name }) => name === wholeName(column));
    return isVerdict && textAt(now, place) !== textAt(before, place);
  });
}

/** Of a deleted row: all but the times. */
function rowColumns(written: readonly Column[]): Column[] {
  return written.filter((column) => !isTime(column));
}

function copyCell(builder: RowBlockBuilder, cell: number, { block, row }: ShapedRow, place: number): void {
  if (place < 0) return;
  const from = row * block.width + place;
  const text = textOfCell(block, from);
  if (text === null) return;
  builder.setText(cell, text, false);
  builder.marks[cell] = (builder.marks[cell] ?? 0) | (block.marks[from] ?? 0);
}

function beforeText(
  { block, row }: ShapedRow,
  columns: readonly Column[],
  placeOf: (column: Column) => number,
): string {
  const members = columns.map((column) => {
    const text = textOfCell(block, row * block.width + placeOf(column));
    return `${JSON.stringify(column.name)}:${jsonOf(text, column)}`;
  });
  return `{${members.join(',')}}`;
}

/** Texts of numbers, booleans and JSON are JSON already. */
function jsonOf(text: string | null, { type }: Column): string {
  if (text === null) return 'null';
  return type === 'string' ? JSON.stringify(text) : text;
}
