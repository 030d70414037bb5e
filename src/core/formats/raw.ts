import type { RowBlock } from '../records/row-block.ts';
import { BlockText, BlockMemory, ByteBlocks } from './growing-bytes.ts';
import { type EncoderOptions, extensions, type RowEncoder, type Sink } from './sink.ts';
import { lineFeed } from '../../lib/ascii.ts';

/**
 * Raw lines are most of what an export with them writes, and only one file holds them: in blocks of 4 MB they take the system
 * a third less time than in blocks of 1 MB. Few lines that cross the end of one are longer than the room behind it.
 */
const memory = new BlockMemory({ blockBytes: 4 << 20, roomBytes: 256 * 1024, files: 2 });

/** One record a line, as the service sent it: the text of the table's only column, which is JSON. */
export const rawSink: Sink = {
  extension: extensions.raw,
  compressesInside: false,
  blockBytes: memory.blockBytes,
  open: async (output, options) => openRaw(new ByteBlocks(output, memory), options),
};

function openRaw(lines: ByteBlocks, { columns }: EncoderOptions): RowEncoder {
  if (columns.length !== 1 || columns[0]?.type !== 'json') throw new Error('raw takes a table of one json column');
  return {
    write: async (block: RowBlock) => {
      const text = new BlockText(block, 1);
      for (let row = 0; row < text.rows; ) {
        row = addLines(lines, text, row);
        if (lines.isFull) await lines.flush();
      }
    },
    end: async () => {
      await lines.end();
      return { formulaCells: 0, replacedSurrogates: 0 };
    },
  };
}

/** Neighbours are copied together up to so many bytes: a call into native code for each would cost more than its copy. */
const runBytes = 64 * 1024;

/**
 * Adds the line of a row, and those of the rows behind it that stand next to it in an answer, a comma between them.
 * @returns the first row that was not added
 */
function addLines(lines: ByteBlocks, text: BlockText, first: number): number {
  const start = text.start(first);
  const words = text.words(first);
  let end = start + lengthOf(text, first);
  let row = first + 1;
  while (row < text.rows && end - start < runBytes && text.start(row) === end + 1 && text.words(row) === words) {
    end += 1 + lengthOf(text, row);
    row += 1;
  }
  lines.reserve(end - start + 1);
  const added = lines.used;
  lines.copy(words, start, end - start);
  lines.byte(lineFeed);
  for (let later = first + 1; later < row; later += 1) lines.put(added + text.start(later) - start - 1, lineFeed);
  return row;
}

function lengthOf(text: BlockText, row: number): number {
  const length = text.length[row] ?? -1;
  if (length < 0) throw new Error('a raw row holds the text of a record');
  return length;
}
