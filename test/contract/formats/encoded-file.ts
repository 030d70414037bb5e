import { blockOf, type RowBlock } from '../../../src/core/records/row-block.ts';
import { type Column, type Row } from '../../../src/core/records/table.ts';
import { sinkFor } from '../../../src/core/formats/registry.ts';
import { type Compression, compressions, type EncoderNotes, type Format } from '../../../src/core/formats/sink.ts';

export interface EncodedFile {
  readonly bytes: Buffer;
  readonly notes: EncoderNotes;
  /** Sizes of the blocks that the output was given. */
  readonly blocks: readonly number[];
}

export interface EncodeOptions {
  readonly columns: readonly Column[];
  readonly compression?: Compression;
  readonly escapeFormulas?: boolean;
  /** Rows of each `write`, in turn; the last number goes on. All rows at once unless it is given. */
  readonly split?: readonly number[];
  /** What becomes of each block before it is written. */
  readonly place?: (block: RowBlock) => RowBlock;
}

/** The bytes that a format makes of rows. Blocks are copied, as an encoder uses their memory again. */
export async function encodeFile(
  format: Format,
  rows: readonly Row[],
  { columns, compression, escapeFormulas = false, split = [rows.length], place = (block) => block }: EncodeOptions,
): Promise<EncodedFile> {
  const sink = await sinkFor(format);
  const blocks: Uint8Array[] = [];
  const encoder = await sink.open(
    { write: async (bytes) => void blocks.push(Uint8Array.from(bytes)) },
    { columns, compression: compression ?? compressions[format][0], escapeFormulas },
  );
  let start = 0;
  for (let turn = 0; start < rows.length; turn += 1) {
    const taken = Math.max(0, split[Math.min(turn, split.length - 1)] ?? 0);
    // A split that ends in nothing would never end.
    const end = turn >= split.length && taken === 0 ? rows.length : start + taken;
    await encoder.write(place(blockOf(columns, rows.slice(start, end))));
    start = end;
  }
  const notes = await encoder.end();
  return { bytes: Buffer.concat(blocks), notes, blocks: blocks.map(({ length }) => length) };
}
