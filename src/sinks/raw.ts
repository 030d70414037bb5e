import { ByteLines } from './byte-lines.ts';
import type { EncoderOptions, RowEncoder, Sink } from './sink.ts';

/** One record a line, as the service sent it: the text of the table's only column, which is JSON. */
export const rawSink: Sink = {
  format: 'raw',
  extension: 'jsonl',
  compressions: ['none', 'gzip', 'zstd'],
  compressesInside: false,
  open: async (output, options) => openRaw(new ByteLines(output), options),
};

function openRaw(lines: ByteLines, { columns }: EncoderOptions): RowEncoder {
  if (columns.length !== 1 || columns[0]?.type !== 'json') throw new Error('raw takes a table of one json column');
  return {
    write: async (rows) => {
      for (const [record] of rows) {
        if (typeof record !== 'string') throw new Error('a raw row holds the text of a record');
        lines.text(record);
        lines.text('\n');
        if (lines.isFull) await lines.flush();
      }
    },
    end: async () => {
      await lines.flush();
      return { formulaCells: 0, replacedSurrogates: 0 };
    },
  };
}
