import type { RowBlock } from '../records/row-block.ts';
import type { Column } from '../records/table.ts';

export const formats = ['parquet', 'csv', 'jsonl', 'raw'] as const;
export type Format = (typeof formats)[number];

/** Where CSV and Parquet cut their bytes: many files may be written at once, and each holds two blocks. */
export const blockBytes = 1 << 20;

/** Where an encoder puts its bytes. */
export interface ByteOutput {
  /**
   * Takes a block of the sink's `blockBytes`, or what is left at the end, one at a time. It resolves when it needs the
   * bytes no more: back-pressure is waiting for it.
   */
  write(block: Uint8Array): Promise<void>;
}

export interface EncoderOptions {
  /** The table's columns, in order. */
  readonly columns: readonly Column[];
  /** Codec inside the file, for formats that compress themselves (parquet); others get their bytes compressed outside. */
  readonly compression: Compression;
  /** CSV only: put a ' before cells that a spreadsheet would run as a formula. */
  readonly escapeFormulas: boolean;
  /** CSV only: the program that will read it; default RFC 4180. */
  readonly csvDialect?: CsvDialectName;
}

export type Compression = 'none' | 'snappy' | 'gzip' | 'zstd';

/** How file names end, without a dot, before `.gz` or `.zst`. Beside the formats, as the help of a command loads no sink. */
export const extensions = {
  parquet: 'parquet',
  csv: 'csv',
  jsonl: 'jsonl',
  raw: 'jsonl',
} as const satisfies Record<Format, string>;

/** `blocks`: gzip that can be read at any place; no job names it. */
export type PartCodec = Compression | 'blocks';

/** Codecs a job may ask for, the default first. */
export const compressions = {
  parquet: ['zstd', 'snappy', 'gzip', 'none'],
  csv: ['none', 'gzip', 'zstd'],
  jsonl: ['none', 'gzip', 'zstd'],
  raw: ['none', 'gzip', 'zstd'],
} as const satisfies Record<Format, readonly Compression[]>;

/** What an encoder had to say about the rows of one file; summed over parts for the manifest. */
export interface EncoderNotes {
  /** Cells that a spreadsheet would run as a formula (CSV). */
  readonly formulaCells: number;
  /** String cells in which a lone surrogate became U+FFFD. */
  readonly replacedSurrogates: number;
}

/** Encodes the rows of one file. The same rows in any number of `write` calls give the same bytes. */
export interface RowEncoder {
  /** Takes rows in file order. The caller waits for it before the next call, and leaves the block's bytes alone until then. */
  write(block: RowBlock): Promise<void>;
  /** Writes what is left (a footer, a last row group). A file of no rows is valid too. */
  end(): Promise<EncoderNotes>;
}

/** One file format. What else a new one takes is in .github/CONTRIBUTING.md, under "How to add". */
export interface Sink {
  /** File name ending without a dot, before `.gz` or `.zst`. */
  readonly extension: string;
  /** True where the codec works inside the file; false where the finished bytes are compressed as a whole. */
  readonly compressesInside: boolean;
  /** Where its encoders cut their bytes, so that what a codec makes of them depends on the rows alone. */
  readonly blockBytes: number;
  open(output: ByteOutput, options: EncoderOptions): Promise<RowEncoder>;
}

/** How CSV is written for one reader. In each, null and the empty string (`""`) are distinct. */
export interface CsvDialect {
  /** What stands for null, never quoted; a text that reads the same is quoted. */
  readonly nullText: string;
  /** Quote every text, also where RFC 4180 needs none. */
  readonly quoteTexts: boolean;
}

/** Each is pinned to the load statement of its warehouse (src/wings/warehouse). */
export const csvDialects = {
  rfc4180: { nullText: '', quoteTexts: false },
  // LOAD DATA reads an empty cell as null and "" as the empty string.
  bigquery: { nullText: '', quoteTexts: false },
  // EMPTY_FIELD_AS_NULL is about bare cells only.
  snowflake: { nullText: '', quoteTexts: true },
  // COPY has one text for null; a bare empty cell would be the empty string.
  redshift: { nullText: '\\N', quoteTexts: true },
  // A bare \. on a line of its own ends the data.
  postgres: { nullText: '', quoteTexts: true },
  // A bare \N is null, whatever the settings say of empty cells.
  clickhouse: { nullText: '\\N', quoteTexts: true },
} as const satisfies Record<string, CsvDialect>;

export type CsvDialectName = keyof typeof csvDialects;

export const csvDialectNames = Object.keys(csvDialects) as CsvDialectName[];

/** The dialect of that name; RFC 4180 for every other. */
export function csvDialectNamed(name: unknown): CsvDialectName {
  return csvDialectNames.find((each) => each === name) ?? 'rfc4180';
}
