import type { Cell, Column, Row } from '../assets/table.ts';
import { timestampText } from '../assets/timestamp-text.ts';
import { ByteLines } from './byte-lines.ts';
import { numberText } from './number-text.ts';
import type { EncoderOptions, RowEncoder, Sink } from './sink.ts';
import { isWellFormed, toWellFormed } from './well-formed.ts';

/** One JSON object a line, every column as a key, in order. */
export const jsonlSink: Sink = {
  format: 'jsonl',
  extension: 'jsonl',
  compressions: ['none', 'gzip', 'zstd'],
  compressesInside: false,
  open: async (output, options) => openJsonl(new ByteLines(output), options),
};

/** What JSON writes as an escape inside a string (RFC 8259, section 7). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const escaped = /["\\\u0000-\u001f]/;

function openJsonl(lines: ByteLines, { columns }: EncoderOptions): RowEncoder {
  const keys = columns.map((column, index) => `${index === 0 ? '{' : ','}${JSON.stringify(column.name)}:`);
  let replacedSurrogates = 0;

  function jsonOf(cell: Cell, column: Column): string {
    if (cell === null) return 'null';
    if (typeof cell === 'boolean') return cell ? 'true' : 'false';
    if (column.type === 'timestamp') return `"${timestampText(Number(cell))}"`;
    if (typeof cell !== 'string') return numberText(cell);
    if (column.type === 'json') return cell;
    if (isWellFormed(cell)) return escaped.test(cell) ? JSON.stringify(cell) : `"${cell}"`;
    replacedSurrogates += 1;
    return JSON.stringify(toWellFormed(cell));
  }

  function lineOf(row: Row): string {
    let line = '';
    for (const [index, column] of columns.entries())
      line += `${keys[index] ?? ''}${jsonOf(row[index] ?? null, column)}`;
    return `${line}}\n`;
  }

  return {
    write: async (rows) => {
      for (const row of rows) {
        lines.text(lineOf(row));
        if (lines.isFull) await lines.flush();
      }
    },
    end: async () => {
      await lines.flush();
      return { formulaCells: 0, replacedSurrogates };
    },
  };
}
