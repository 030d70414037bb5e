import type { RowBlock } from '../assets/row-block.ts';
import { BlockText } from './block-text.ts';
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

const lineFeed = 0x0a;

function openRaw(lines: ByteLines, { columns }: EncoderOptions): RowEncoder {
  if (columns.length !== 1 || columns[0]?.type !== 'json') throw new Error('raw takes a table of one json column');
  return {
    write: async (block: RowBlock) => {
      const text = new BlockText(block, 1);
      for (let row = 0; row < text.rows; row += 1) {
        const length = text.length[row] ?? -1;
        if (length < 0) throw new Error('a raw row holds the text of a record');
        lines.reserve(length + 1);
        lines.copy(text.words(row), text.start(row), length);
        lines.byte(lineFeed);
        if (lines.isFull) await lines.flush();
      }
    },
    end: async () => {
      await lines.flush();
      return { formulaCells: 0, replacedSurrogates: 0 };
    },
  };
}
