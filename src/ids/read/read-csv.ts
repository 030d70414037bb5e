import { isAssetId } from '../asset-id.ts';
import { ExportError } from '../../lib/export-error.ts';
import { type CsvCell, type CsvRow, scanCsv } from '../../lib/scan/scan-csv.ts';
import type { ByteScanner } from '../../lib/scan/split-lines.ts';
import { cleanId } from '../clean-id.ts';
import type { EntryBlocks } from './entry-blocks.ts';
import type { IdInput } from '../id-input.ts';
import { missingColumn, namedColumn, pickColumn } from './pick-column.ts';

/** Longest cell that may still hold an id among blanks, in bytes. */
const longestCell = 65_536;

/** How much of the file is looked at to find its delimiter, in bytes. */
const lookBytes = 65_536;

const delimiters = [',', '\t', ';', '|'];

/**
 * Reads the id column of CSV. The first row is the header when it holds the column asked for, else unless one of its cells
 * is an id, or nearly one and none is `id` or `mint`.
 * @throws {ExportError} `input` when the column asked for is missing, or a quoted cell has no end.
 */
export function readCsv(input: IdInput, entries: EntryBlocks, column: string | undefined): ByteScanner {
  const rows = csvRows(input, entries, column);
  const open = (head: Buffer): ByteScanner => {
    const scanner = scanCsv({
      ...rows,
      delimiter: delimiterOf(input, head),
      longest: longestCell,
      fault: (why, line) =>
        new ExportError('input', `${input.name}:${line}: ${why}`, {
          todo: 'Close the quote, or double it inside a cell.',
        }),
    });
    scanner.push(head);
    return scanner;
  };
  let head: Buffer | undefined = Buffer.alloc(0);
  let scanner: ByteScanner | undefined;
  return {
    push(bytes) {
      if (head === undefined) {
        scanner?.push(bytes);
        return;
      }
      head = Buffer.concat([head, bytes]);
      if (head.length < lookBytes) return;
      scanner = open(head);
      head = undefined;
    },
    end() {
      scanner ??= open(head ?? Buffer.alloc(0));
      scanner.end();
    },
  };
}

interface CsvRows {
  wants: (column: number) => boolean;
  onCell: (cell: CsvCell) => void;
  onRow: (row: CsvRow) => void;
}

/** Handles cells and rows: the first row names the column, every other row is an entry. */
function csvRows(input: IdInput, entries: EntryBlocks, column: string | undefined): CsvRows {
  let picked: number | undefined;
  let header: string[] = [];
  let id: string | undefined;
  let isExact = false;
  let isCut = false;

  const addRow = (row: CsvRow): void => {
    if (isCut) entries.addInvalid(cleanId(id ?? ''), row.line, `a cell of more than ${longestCell} bytes`);
    else if (id !== undefined && isExact) entries.addFound(row.line);
    else if (id === undefined) {
      entries.addInvalid('', row.line, `${row.columns} columns, but the id is in column ${(picked ?? 0) + 1}`);
    } else if (!entries.addText(id, row.line)) entries.addInvalid('', row.line, 'empty id column');
  };

  const addFirst = (row: CsvRow): void => {
    const names = header.map((name) => cleanId(name));
    header = [];
    const place = pickColumn(names, column);
    if (place === undefined) throw missingColumn(`${input.name}:${row.line}`, column ?? '', names);
    const isHeader = column !== undefined || looksLikeHeader(names);
    picked = isHeader ? place : 0;
    entries.takeColumn(isHeader ? names : ['the first column, because there is no header'], picked, column);
    if (isHeader) return;
    id = names[picked];
    isExact = false;
    addRow(row);
  };

  return {
    wants: (index) => picked === undefined || index === picked,
    onCell(cell) {
      isExact = entries.findId(cell.bytes, 0, cell.end);
      isCut = cell.cut;
      // Of an id in its column, what was found is all that is wanted.
      id = isExact && picked !== undefined ? '' : cell.bytes.toString('utf8', 0, cell.cut ? 1000 : cell.end);
      if (picked === undefined && header.length < 10_000) header.push(id);
    },
    onRow(row) {
      if (row.isBlank) {
        header = [];
      } else if (picked === undefined) {
        isCut = false;
        addFirst(row);
      } else addRow(row);
      id = undefined;
      isCut = false;
    },
  };
}

function looksLikeHeader(names: readonly string[]): boolean {
  if (names.some((name) => isAssetId(name))) return false;
  return namedColumn(names, undefined) !== undefined || !names.some(isNearlyId);
}

/** True for what may be an id with a slip in it. A long name may look so, too. */
function isNearlyId(cell: string): boolean {
  const odd = cell.match(/[^1-9A-HJ-NP-Za-km-z]/g)?.length ?? 0;
  return cell.length >= 28 && cell.length <= 48 && odd <= 2;
}

/** Tab for what is named so, else what separates the first row most often outside quotes. */
function delimiterOf(input: IdInput, head: Buffer): number {
  if (/\.(tsv|tab)(\.|$)/i.test(input.name)) return 9;
  const first = /^(?:"[^"]*"|[^"\r\n])*/.exec(head.toString('latin1').trimStart())?.[0] ?? '';
  const bare = first.replaceAll(/"[^"]*"/g, '');
  const counts = delimiters.map((delimiter) => bare.split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))]?.charCodeAt(0) ?? 44;
}
