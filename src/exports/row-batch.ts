import { BlockText, strideBytes, GrowingBytes } from '../core/formats/growing-bytes.ts';
import { assetsTable } from '../core/records/columns.ts';
import { type RowBlock, RowBlockBuilder } from '../core/records/row-block.ts';
import { RecordRows } from '../core/records/scan/record-rows.ts';
import { RecordTexts } from './record-text.ts';
import { closeBracket, comma, openBracket } from '../lib/ascii.ts';
import { isJsonObject, parseJson } from '../lib/json/json.ts';

const width = assetsTable.columns.length;

/** Bytes of a packed row before its texts: of each cell the length, -1 for null, and the marks. */
const packedHead = width * 5;

/** Memory that is kept from one batch to the next. */
const keptBytes = 8 << 20;

/** The rows of a batch in the making, some as records, others as the cells that a file holds of them. */
export class RowBatch {
  readonly #members: 'id' | 'lists';
  readonly #bytes = new GrowingBytes(keptBytes);
  /** By row; undefined where its cells are known. */
  #records: (Uint8Array | undefined)[] = [];
  /** Up to the last row whose cells are known. Those of records are null. */
  readonly #cells = new RowBlockBuilder(width, 0);

  /** @param hasLists whether rows of child tables are made: then the lists of known cells are read like those of records */
  constructor(hasLists: boolean) {
    this.#members = hasLists ? 'lists' : 'id';
  }

  get count(): number {
    return this.#records.length;
  }

  /** @param record its JSON, which stays as it is until `rows` */
  addRecord(record: Uint8Array): void {
    this.#records.push(record);
  }

  /** Adds a whole row of `assets`. */
  addCells(text: BlockText, row: number): void {
    const bytes = this.#bytes;
    const cells = this.#cells;
    const to = this.#addRow();
    const first = row * width;
    bytes.reserve(text.rowBytes(row) + width);
    for (let column = 0; column < width; column += 1) {
      const length = text.length[first + column] ?? -1;
      cells.setSpan(to + column, bytes.used, length);
      cells.marks[to + column] = text.marks[first + column] ?? 0;
      if (length > 0) bytes.copy(text.words(first + column), text.start(first + column), length);
    }
  }

  /** Adds a row that was packed. */
  addPacked(packed: Buffer): void {
    const bytes = this.#bytes;
    const cells = this.#cells;
    const to = this.#addRow();
    let end = bytes.used;
    for (let column = 0; column < width; column += 1) {
      const length = packed.readInt32LE(column * 4);
      cells.setSpan(to + column, end, length);
      cells.marks[to + column] = packed[width * 4 + column] ?? 0;
      end += Math.max(0, length);
    }
    bytes.reserve(packed.length);
    bytes.add(packed.subarray(packedHead));
  }

  /** Makes the rows, and begins again. */
  rows(open = (body: Uint8Array) => new RecordRows(body)): RecordRows {
    const starts = this.#addRecords();
    const rows = open(Buffer.from(this.#bytes.bytes));
    readAll(rows, starts);
    this.#setCells(rows);
    this.#records = [];
    this.#cells.cutTo(0);
    this.#bytes.clear();
    return rows;
  }

  #addRow(): number {
    while (this.#cells.rows < this.count) this.#cells.addRow();
    this.#records.push(undefined);
    return this.#cells.addRow();
  }

  /** Adds the records as the array of an answer behind the texts of the cells, and gives where each begins, and where the array ends. */
  #addRecords(): number[] {
    const bytes = this.#bytes;
    const texts = new RecordTexts(this.#cells.block(bytes.bytes));
    const starts: number[] = [];
    for (const [row, given] of this.#records.entries()) {
      const record = given ?? texts.few(row, this.#members);
      bytes.reserve(record.length + 2);
      bytes.byte(row === 0 ? openBracket : comma);
      starts.push(bytes.used);
      bytes.add(record);
    }
    bytes.reserve(1);
    bytes.byte(closeBracket);
    starts.push(bytes.used);
    return starts;
  }

  #setCells(rows: RecordRows): void {
    const records = this.#records;
    for (let row = 0; row < records.length; ) {
      let end = row;
      while (end < records.length && records[end] === undefined) end += 1;
      if (end > row) rows.setCells(row, end, this.#cells);
      row = end + 1;
    }
  }
}

/** Whole rows of `assets` that a file holds, for batches. They are good as long as the block. */
export class CellRows {
  readonly count: number;
  readonly #text: BlockText;

  constructor(block: RowBlock) {
    this.count = block.rows;
    this.#text = new BlockText(block, width);
  }

  addTo(batch: RowBatch, row: number): void {
    batch.addCells(this.#text, row);
  }

  /** A row by itself, which outlasts the block. */
  packed(row: number): Buffer {
    const text = this.#text;
    const first = row * width;
    const bytes = new GrowingBytes(0);
    const head = Buffer.alloc(packedHead);
    bytes.reserve(packedHead + text.rowBytes(row) + width + strideBytes);
    for (let column = 0; column < width; column += 1) {
      head.writeInt32LE(text.length[first + column] ?? -1, column * 4);
      head[width * 4 + column] = text.marks[first + column] ?? 0;
    }
    bytes.add(head);
    for (let cell = first; cell < first + width; cell += 1) {
      const length = text.length[cell] ?? -1;
      if (length > 0) bytes.copy(text.words(cell), text.start(cell), length);
    }
    return Buffer.from(bytes.bytes);
  }
}

/** @param starts where each record begins, with a byte between it and the one before, and the end of the array */
function readAll(rows: RecordRows, starts: readonly number[]): void {
  const count = starts.length - 1;
  for (let index = 0; index < count; ) {
    const before = rows.count;
    const start = starts[index] ?? 0;
    if (rows.read(start, count) < 0) {
      const end = (starts[index + 1] ?? 0) - 1;
      const value = parseJson(Buffer.from(rows.source.subarray(start, end)).toString('utf8'));
      if (isJsonObject(value)) rows.add(value, start, end);
      index += 1;
    } else index += rows.count - before;
  }
}

/** Records as rows. */
export function recordRowsOf(records: readonly Uint8Array[], open?: (body: Uint8Array) => RecordRows): RecordRows {
  const batch = new RowBatch(false);
  for (const record of records) batch.addRecord(record);
  return batch.rows(open);
}

/** All records as whole rows of `assets`. */
export function wholeRows(rows: RecordRows): RowBlock {
  return rows.rows(
    assetsTable,
    Array.from({ length: rows.count }, (_, index) => index),
  );
}
