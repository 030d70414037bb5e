import type { Row } from '../assets/table.ts';
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
  const types = columns.map(({ type }) => type);
  const keys = columns.map(({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  const nulls = keys.map((key) => `${key}null`);
  let replacedSurrogates = 0;

  function textOf(cell: string): string {
    if (isWellFormed(cell)) return escaped.test(cell) ? JSON.stringify(cell) : `"${cell}"`;
    replacedSurrogates += 1;
    return JSON.stringify(toWellFormed(cell));
  }

  function lineOf(row: Row): string {
    let line = '';
    for (let index = 0; index < types.length; index += 1) {
      const cell = row[index] ?? null;
      if (cell === null) line += nulls[index] ?? '';
      else {
        line += keys[index] ?? '';
        if (typeof cell === 'string') line += types[index] === 'json' ? cell : textOf(cell);
        else if (typeof cell === 'boolean') line += cell ? 'true' : 'false';
        else line += types[index] === 'timestamp' ? `"${timestampText(Number(cell))}"` : numberText(cell);
      }
    }
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
