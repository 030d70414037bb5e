import type { Format } from '../core/formats/sink.ts';
import type { RowBlock } from '../core/records/row-block.ts';
import { csvBlocks } from './csv-blocks.ts';
import { jsonlBlocks } from './jsonl-blocks.ts';
import type { rangesOf } from '../places/export/part-bytes.ts';
import type { RowLayout } from './row-readers.ts';

/** An open file, for who reads it from its beginning or in any order. */
export interface FileContent {
  /** Decompressed. */
  plain(): AsyncIterable<Uint8Array>;
  /** As it lies on disk. */
  ranges(): ReturnType<typeof rangesOf>;
}

/** What reads each format back: the most exact first, then the fastest. Raw files hold records, not rows. */
export const blockReaders: Readonly<
  Record<Exclude<Format, 'raw'>, (file: FileContent, layout: RowLayout) => AsyncIterable<RowBlock>>
> = {
  parquet: async function* (file, layout) {
    // It loads WebAssembly.
    const { parquetBlocks } = await import('./parquet-blocks.ts');
    yield* parquetBlocks(file.ranges(), layout);
  },
  jsonl: (file, layout) => jsonlBlocks(file.plain(), layout),
  csv: (file, layout) => csvBlocks(file.plain(), layout),
};

/** The formats that hold rows, in the order of `blockReaders`. */
export const rowFormats = Object.keys(blockReaders) as (keyof typeof blockReaders)[];
