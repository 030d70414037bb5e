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

/**
 * How a cell starts that a spreadsheet may run: the characters of OWASP's "CSV Injection" and the full-width forms of
 * its four signs, the same as csv-stringify's `escape_formulas`. Only text is meant: a negative number is none.
 */
const formulaStart = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

/** RFC 4180, section 2: what makes a cell need quotes. */
const needsQuotes = /[",\r\n]/;

function openCsv(lines: ByteLines, { columns, escapeFormulas, csvDialect }: EncoderOptions): RowEncoder {
  const { nullText, quoteTexts }: CsvDialect = csvDialects[csvDialect ?? 'rfc4180'];
  const quoted = quoteTexts ? quotedAlways : quotedWhereNeeded;
  const isTimestamp = columns.map((column) => column.type === 'timestamp');
  const isText = columns.map((column) => column.type === 'string');
  let formulaCells = 0;
  let replacedSurrogates = 0;

  /** Counts what is odd about a cell of text, and disarms it when asked to. */
  function inspected(cell: string): string {
    if (!isWellFormed(cell)) replacedSurrogates += 1;
    if (!formulaStart.test(cell)) return cell;
    formulaCells += 1;
    return escapeFormulas ? `'${cell}` : cell;
  }

  function lineOf(row: Row): string {
    let line = '';
    for (let index = 0; index < columns.length; index += 1) {
      const cell = row[index] ?? null;
      if (index > 0) line += ',';
      if (typeof cell === 'string') line += quoted(isText[index] === true ? inspected(cell) : cell);
      else if (cell === null) line += nullText;
      else line += isTimestamp[index] === true ? timestampText(Number(cell)) : plain(cell);
    }
    return `${line}\n`;
  }

  lines.text(stringify([columns.map((column) => column.name)]));
  return {
    write: async (rows) => {
      for (const row of rows) {
        lines.text(lineOf(row));
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

function quotedWhereNeeded(cell: string): string {
  if (cell === '') return '""';
  return needsQuotes.test(cell) ? quotedAlways(cell) : cell;
}

function quotedAlways(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}
