import { type ColumnMetaData, type FileMetaData, parquetMetadataAsync, parquetSchema } from 'hyparquet';
import { ExportError } from '../lib/export-error.ts';
import type { Reads, ReadableFile } from '../places/files/disk.ts';
import { rangesOf } from '../places/export/part-bytes.ts';

/** What the footer of a Parquet file says of one column. */
export interface ColumnFooter {
  /** The field id that the file gives it: a name may be that of another column in another night. */
  readonly id: number;
  /** In the file, compressed. */
  readonly bytes: number;
  /** Values, nulls among them. */
  readonly values: number;
  readonly nulls: number | undefined;
  /** The exact least and greatest values: bytes of a text, or 64 bits, the lowest byte first. Absent where they are not known exactly. */
  readonly lower?: Uint8Array;
  readonly upper?: Uint8Array;
}

/** The bounds stay as the file keeps them: bytes of texts, numbers of 64 bits. */
const exactBounds = {
  timestampFromMilliseconds: (value: bigint) => value,
  timestampFromMicroseconds: (value: bigint) => value,
  timestampFromNanoseconds: (value: bigint) => value,
  dateFromDays: (value: number) => value,
  stringFromBytes: (bytes: Uint8Array) => bytes,
};

/** Columns of a Parquet file that have field ids, in their order. @throws {ExportError} `damaged` for what is not a Parquet file */
export async function readFooter(files: Reads, path: string, byteLength: number): Promise<ColumnFooter[]> {
  const open = await files.open(path);
  try {
    return columnsOf(await metadataOf(open, path, byteLength));
  } finally {
    await open.close();
  }
}

async function metadataOf(open: ReadableFile, path: string, byteLength: number): Promise<FileMetaData> {
  let failure: Error | undefined;
  const { slice } = rangesOf(open, byteLength);
  const kept = (start: number, end?: number): Promise<ArrayBuffer> =>
    slice(start, end).catch((error: unknown) => {
      failure = error instanceof Error ? error : new Error(String(error));
      throw failure;
    });
  try {
    return await parquetMetadataAsync({ byteLength, slice: kept }, { parsers: exactBounds });
  } catch (error) {
    if (failure !== undefined) throw failure;
    throw new ExportError('damaged', `${path} is damaged: its footer is not that of a Parquet file`, { cause: error });
  }
}

function columnsOf(metadata: FileMetaData): ColumnFooter[] {
  const fields = parquetSchema(metadata).children;
  const chunksOf = new Map<string, ColumnMetaData[]>();
  for (const { columns } of metadata.row_groups) {
    for (const { meta_data: chunk } of columns) {
      const [name] = chunk?.path_in_schema ?? [];
      if (chunk === undefined || name === undefined) continue;
      chunksOf.set(name, [...(chunksOf.get(name) ?? []), chunk]);
    }
  }
  return fields.flatMap(({ element: { name, field_id: id } }) =>
    id === undefined ? [] : [footerOf(id, chunksOf.get(name) ?? [])],
  );
}

function footerOf(id: number, chunks: readonly ColumnMetaData[]): ColumnFooter {
  const sum = (each: (chunk: ColumnMetaData) => bigint | undefined): number =>
    chunks.reduce((all, chunk) => all + Number(each(chunk) ?? Number.NaN), 0);
  const nulls = sum((chunk) => chunk.statistics?.null_count);
  const lower = boundOf(chunks, 'min');
  const upper = boundOf(chunks, 'max');
  return {
    id,
    bytes: sum((chunk) => chunk.total_compressed_size),
    values: sum((chunk) => chunk.num_values),
    nulls: Number.isNaN(nulls) ? undefined : nulls,
    ...(lower === undefined ? {} : { lower }),
    ...(upper === undefined ? {} : { upper }),
  };
}

/** The bound over all row groups; undefined where that of one is cut or not known. */
function boundOf(chunks: readonly ColumnMetaData[], side: 'min' | 'max'): Uint8Array | undefined {
  let found: Uint8Array | bigint | undefined;
  for (const { statistics, num_values: values } of chunks) {
    if (statistics?.null_count !== undefined && statistics.null_count === values) continue;
    const bound: unknown = statistics?.[`${side}_value`];
    const isExact = typeof bound === 'bigint' || statistics?.[`is_${side}_value_exact`] === true;
    if (!isExact || !(typeof bound === 'bigint' || bound instanceof Uint8Array)) return undefined;
    if (found === undefined || isBeyond(bound, found, side)) found = bound;
  }
  if (typeof found !== 'bigint') return found;
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(found);
  return bytes;
}

function isBeyond(bound: Uint8Array | bigint, found: Uint8Array | bigint, side: 'min' | 'max'): boolean {
  if (typeof bound === 'bigint' || typeof found === 'bigint') return side === 'min' ? bound < found : bound > found;
  const order = Buffer.compare(bound, found);
  return side === 'min' ? order < 0 : order > 0;
}
