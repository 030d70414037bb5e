import { asBuffer, type ByteScanner } from './split-lines.ts';
import { carriageReturn, lineFeed, quote } from '../ascii.ts';

export interface CsvCell {
  /** The cell's bytes, unquoted, from 0 to `end`. Only valid during the callback. */
  bytes: Buffer;
  end: number;
  /** From 0. */
  column: number;
  /** True when the cell is longer than the scanner keeps. */
  cut: boolean;
}

export interface CsvRow {
  /** Line on which the row starts, from 1. */
  line: number;
  columns: number;
  /** True when every cell is empty. */
  isBlank: boolean;
}

export interface ScanCsvOptions {
  /** Code of the character between cells. */
  readonly delimiter: number;
  /** The longest cell that is kept whole, in bytes. */
  readonly longest: number;
  readonly wants: (column: number) => boolean;
  /** Called with the cells of the wanted columns. */
  readonly onCell: (cell: CsvCell) => void;
  /** Called at the end of each row, after its cells. */
  readonly onRow: (row: CsvRow) => void;
  /** Makes the error for a quoted cell without an end. */
  readonly fault: (why: string, line: number) => Error;
}

/**
 * Reads CSV (RFC 4180; rows end at LF, CRLF or CR) cell by cell and keeps only the wanted ones, so that a row of any
 * size costs no more memory than `longest`. What follows a closing quote in the same cell is taken as it stands.
 */
export function scanCsv(options: ScanCsvOptions): ByteScanner {
  const { delimiter, longest } = options;
  const cell: CsvCell = { bytes: Buffer.alloc(longest), end: 0, column: 0, cut: false };
  const row: CsvRow = { line: 1, columns: 0, isBlank: true };
  let line = 1;
  let isWanted = options.wants(0);
  let inQuotes = false;
  let quoteLine = 0;
  /** In the cell: nothing yet, plain text, or just behind a quote that may have closed it. */
  let place: 'start' | 'text' | 'quote' = 'start';
  let afterReturn = false;

  const keep = (bytes: Uint8Array, start: number, end: number): void => {
    row.isBlank = false;
    if (!isWanted) return;
    const stop = Math.min(end, start + longest - cell.end);
    let { end: at } = cell;
    for (let index = start; index < stop; index += 1) cell.bytes[at++] = bytes[index] ?? 0;
    cell.end = at;
    if (stop < end) cell.cut = true;
  };

  const endCell = (): void => {
    if (isWanted) options.onCell(cell);
    cell.end = 0;
    cell.cut = false;
    cell.column += 1;
    isWanted = options.wants(cell.column);
    place = 'start';
  };

  const endRow = (): void => {
    endCell();
    row.columns = cell.column;
    options.onRow(row);
    cell.column = 0;
    row.isBlank = true;
    isWanted = options.wants(0);
  };

  const newLine = (byte: number): void => {
    if (byte === lineFeed && afterReturn) return;
    line += 1;
    if (!inQuotes) {
      endRow();
      row.line = line;
    }
  };

  /** Each of these takes what begins at `index` and gives the index behind it. */
  const quoted = (bytes: Uint8Array, index: number): number => {
    const byte = bytes[index] ?? 0;
    if (byte === quote) {
      inQuotes = false;
      place = 'quote';
      afterReturn = false;
      return index + 1;
    }
    let end = index + 1;
    if (byte === lineFeed || byte === carriageReturn) newLine(byte);
    else while (end < bytes.length && !isSpecialInQuotes(bytes[end] ?? 0)) end += 1;
    afterReturn = byte === carriageReturn;
    keep(bytes, index, end);
    return end;
  };

  const plain = (bytes: Uint8Array, index: number): number => {
    const byte = bytes[index] ?? 0;
    let end = index + 1;
    if (byte === delimiter) endCell();
    else if (byte === lineFeed || byte === carriageReturn) newLine(byte);
    else if (byte === quote && place !== 'text') {
      // Behind a closing quote it is an escaped quote, at the start of a cell it opens one.
      if (place === 'quote') keep(bytes, index, end);
      else quoteLine = line;
      inQuotes = true;
    } else {
      while (end < bytes.length && bytes[end] !== delimiter && !isSpecialInQuotes(bytes[end] ?? 0)) end += 1;
      keep(bytes, index, end);
      place = 'text';
    }
    afterReturn = byte === carriageReturn;
    return end;
  };

  return {
    push(pushed) {
      const bytes = asBuffer(pushed);
      let index = 0;
      while (index < bytes.length) index = inQuotes ? quoted(bytes, index) : plain(bytes, index);
    },
    end() {
      if (inQuotes) throw options.fault('unclosed quote: it opens here', quoteLine);
      if (cell.column > 0 || cell.end > 0 || place !== 'start' || !row.isBlank) endRow();
    },
  };
}

function isSpecialInQuotes(byte: number): boolean {
  return byte === quote || byte === lineFeed || byte === carriageReturn;
}
