import { asBuffer, type ByteScanner } from './split-lines.ts';

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
  /** Told the cells of the wanted columns. */
  readonly onCell: (cell: CsvCell) => void;
  /** Told the end of each row, after its cells. */
  readonly onRow: (row: CsvRow) => void;
  /** Makes the error for a quoted cell without an end. */
  readonly fault: (why: string, line: number) => Error;
}

const lineFeed = 10;
const carriageReturn = 13;
const quote = 34;

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

  const keep = (byte: number): void => {
    row.isBlank = false;
    if (!isWanted) return;
    if (cell.end < longest) cell.bytes[cell.end++] = byte;
    else cell.cut = true;
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

  const quoted = (byte: number): void => {
    if (byte === quote) {
      inQuotes = false;
      place = 'quote';
      return;
    }
    if (byte === lineFeed || byte === carriageReturn) newLine(byte);
    keep(byte);
  };

  const plain = (byte: number): void => {
    if (byte === delimiter) endCell();
    else if (byte === lineFeed || byte === carriageReturn) newLine(byte);
    else if (byte === quote && place !== 'text') {
      // Behind a closing quote it is an escaped quote, at the start of a cell it opens one.
      if (place === 'quote') keep(byte);
      else quoteLine = line;
      inQuotes = true;
    } else {
      keep(byte);
      place = 'text';
    }
  };

  return {
    push(pushed) {
      const bytes = asBuffer(pushed);
      for (let index = 0; index < bytes.length; index += 1) {
        const byte = bytes[index] ?? 0;
        if (inQuotes) quoted(byte);
        else plain(byte);
        afterReturn = byte === carriageReturn;
      }
    },
    end() {
      if (inQuotes) throw options.fault('a quote that opens here is never closed', quoteLine);
      if (cell.column > 0 || cell.end > 0 || place !== 'start' || !row.isBlank) endRow();
    },
  };
}
