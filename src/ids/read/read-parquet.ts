import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetRead, parquetSchema } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { ExportError, messageOf } from '../../lib/export-error.ts';
import type { EntryBlock } from '../entries.ts';
import type { EntryBlocks } from './entry-blocks.ts';
import { openInput } from './file-bytes.ts';
import type { IdInput } from '../id-input.ts';
import { checkUnchanged, inputBytes, type InputBytesOptions } from './input-bytes.ts';
import { missingColumn, pickColumn } from './pick-column.ts';

export interface ReadParquetOptions extends InputBytesOptions {
  readonly column?: string | undefined;
  /** Entries that are enough, of those at the beginning. */
  readonly enough?: number | undefined;
}

/**
 * Reads the id column of a Parquet file, a row group at a time.
 * @throws {ExportError} `input` when it is not Parquet, lacks the column, or changed.
 */
export async function* readParquet(
  input: IdInput,
  entries: EntryBlocks,
  options: ReadParquetOptions,
): AsyncGenerator<EntryBlock> {
  const isPlain = input.compression === 'none';
  const file = isPlain ? await openInput(input) : await unpack(input, options);
  try {
    const buffer = await bufferOf(file);
    const metadata = await asInput(input, () => parquetMetadataAsync(buffer));
    const column = columnOf(input, metadata, { entries, asked: options.column });
    let row = 0;
    let reported = 0;
    for (const group of metadata.row_groups) {
      const rows = Math.min(Number(group.num_rows), options.enough ?? Number.POSITIVE_INFINITY);
      const values = await asInput(input, () => readColumn(buffer, metadata, { column, start: row, end: row + rows }));
      for (const value of values) {
        row += 1;
        addValue(entries, value, row);
        if (!entries.hasFull) continue;
        // Bytes are not read in order here, so progress goes by rows.
        const soFar = Math.floor((buffer.byteLength * row) / Math.max(1, Number(metadata.num_rows)));
        if (isPlain) options.onBytes?.(soFar - reported);
        reported = soFar;
        yield* entries.take();
      }
      if (row >= (options.enough ?? Number.POSITIVE_INFINITY)) break;
    }
    if (isPlain) options.onBytes?.(buffer.byteLength - reported);
    yield* entries.take(true);
  } finally {
    await file.close();
  }
  if (isPlain && options.expected !== undefined) await checkUnchanged(input, options.expected);
}

function addValue(entries: EntryBlocks, value: unknown, row: number): void {
  if (typeof value !== 'string') {
    entries.addInvalid('', row, value === null || value === undefined ? 'null' : 'not a string');
  } else if (!entries.addText(value, row)) entries.addInvalid('', row, 'empty id column');
}

/** The id column: one that holds plain values, not lists or structures. */
function columnOf(
  input: IdInput,
  metadata: FileMetaData,
  { entries, asked }: { readonly entries: EntryBlocks; readonly asked: string | undefined },
): string {
  const plain = parquetSchema(metadata).children.filter((child) => child.children.length === 0);
  const names = plain.map((child) => child.element.name);
  const picked = pickColumn(names, asked) ?? -1;
  const column = names[picked];
  if (column === undefined) throw missingColumn(input.name, asked ?? 'id', names);
  entries.takeColumn(names, picked, asked);
  return column;
}

interface ColumnRange {
  readonly column: string;
  readonly start: number;
  readonly end: number;
}

async function readColumn(file: AsyncBuffer, metadata: FileMetaData, range: ColumnRange): Promise<unknown[]> {
  const values: unknown[] = [];
  await parquetRead({
    file,
    metadata,
    columns: [range.column],
    rowStart: range.start,
    rowEnd: range.end,
    compressors,
    onChunk: ({ columnData, rowStart }) => {
      let at = rowStart - range.start;
      for (const value of columnData) values[at++] = value;
    },
  });
  return values;
}

/** Runs what reads the file; what it cannot make sense of is the file's fault. */
async function asInput<T>(input: IdInput, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new ExportError('input', `cannot read ${input.name} as Parquet: ${messageOf(error)}`, {
      todo: 'Check that the file is complete, or set its format with --ids-format.',
      cause: error,
    });
  }
}

async function bufferOf(file: FileHandle): Promise<AsyncBuffer> {
  const { size } = await file.stat();
  return {
    byteLength: size,
    async slice(start, end = size) {
      const bytes = new Uint8Array(end - start);
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, start + filled);
        if (bytesRead === 0) throw new Error('the file is truncated');
        filled += bytesRead;
      }
      return bytes.buffer;
    },
  };
}

/** Parquet is read from its end, so what is compressed as a whole goes through a file without a name. */
async function unpack(input: IdInput, options: InputBytesOptions): Promise<FileHandle> {
  const folder = await mkdtemp(path.join(tmpdir(), 'asset-export-'));
  let file: FileHandle | undefined;
  try {
    file = await open(path.join(folder, 'ids.parquet'), 'wx+');
    for await (const bytes of inputBytes(input, options)) await file.writeFile(bytes);
    return file;
  } catch (error) {
    await file?.close();
    throw error;
  } finally {
    await rm(folder, { recursive: true });
  }
}
