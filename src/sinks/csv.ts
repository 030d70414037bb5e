import { stringify } from 'csv-stringify/sync';
import type { Row } from '../assets/table.ts';
import { timestampText } from '../assets/timestamp-text.ts';
import { ByteLines } from './byte-lines.ts';
import { type CsvDialect, csvDialects } from './csv-dialect.ts';
import { numberText } from './number-text.ts';
import type { EncoderOptions, RowEncoder, Sink } from './sink.ts';
import { isWellFormed } from './well-formed.ts';

/** RFC 4180 with a header, LF and UTF-8; null is an empty cell and the empty string is `""`, unless the dialect says otherwise. */
export const csvSink: Sink = {
  format: 'csv',
  extension: 'csv',
  compressions: ['none', 'gzip', 'zstd'],
  compressesInside: false,
  open: async (output, options) => openCsv(new ByteLines(output), options),
};

/** RFC 4180, section 2: what makes a cell need quotes. */
const needsQuotes = /[",\r\n]/;

function openCsv(lines: ByteLines, { columns, escapeFormulas, csvDialect }: EncoderOptions): RowEncoder {
  const { nullText, quoteTexts }: CsvDialect = csvDialects[csvDialect ?? 'rfc4180'];
  const isTimestamp = columns.map((column) => column.type === 'timestamp');
  const isText = columns.map((column) => column.type === 'string');
  let formulaCells = 0;
  let replacedSurrogates = 0;

  /** Counts what is odd about a cell of text, and disarms it when asked to. */
  function inspected(cell: string): string {
    if (!isWellFormed(cell)) replacedSurrogates += 1;
    if (!startsFormula(cell)) return cell;
    formulaCells += 1;
    return escapeFormulas ? `'${cell}` : cell;
  }

  /** Gathers cells as text, and gives it away where a cell needs quotes; docs/decisions/0004-csv-rows.md says why. */
  function writeRow(row: Row): void {
    let line = '';
    for (let index = 0; index < columns.length; index += 1) {
      const cell = row[index] ?? null;
      if (index > 0) line += ',';
      if (cell === null) line += nullText;
      else if (typeof cell !== 'string')
        line += isTimestamp[index] === true ? timestampText(Number(cell)) : plain(cell);
      else if (cell === '') line += '""';
      else {
        const text = isText[index] === true ? inspected(cell) : cell;
        if (quoteTexts || needsQuotes.test(text)) {
          lines.text(line);
          lines.quoted(text);
          line = '';
        } else line += text;
      }
    }
    lines.text(`${line}\n`);
  }

  lines.text(stringify([columns.map((column) => column.name)]));
  return {
    write: async (rows) => {
      for (const row of rows) {
        writeRow(row);
        if (lines.isFull) await lines.flush();
      }
    },
    end: async () => {
      await lines.flush();
      return { formulaCells, replacedSurrogates };
    },
  };
}

function plain(cell: number | bigint | boolean): string {
  if (typeof cell === 'boolean') return cell ? 'true' : 'false';
  return numberText(cell);
}

/**
 * Whether a spreadsheet may run the cell: the characters of OWASP's "CSV Injection" and the full-width forms of its
 * four signs, the same as csv-stringify's `escape_formulas`. Only text is meant: a negative number is none.
 */
function startsFormula(cell: string): boolean {
  switch (cell.charCodeAt(0)) {
    case 0x3d: // =
    case 0x2b: // +
    case 0x2d: // -
    case 0x40: // @
    case 0x09: // tab
    case 0x0d: // CR
    case 0xff1d:
    case 0xff0b:
    case 0xff0d:
    case 0xff20:
      return true;
    default:
      return false;
  }
}
