import { makeTemporary } from '../../../lib/disk/on-disk.ts';
import { type FileHandle, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetRead, parquetSchema } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { ExportError, messageOf } from '../../../lib/export-error.ts';
import { holdsId, type EntryBlock } from '../entries.ts';
import type { EntryBlocks } from './entry-blocks.ts';
import type { IdInput } from '../id-input.ts';
import { checkUnchanged, inputBytes, type InputBytesOptions, openInput } from './input-bytes.ts';
import { chooseColumns, type TableStart } from './id-columns.ts';
import { entriesLookedAt, type ListForm, type ParquetForm, type Sample, mostSamples } from './list-form.ts';
import { noList } from './no-list.ts';

/**
 * Reads the id column of a Parquet file, a row group at a time.
 * @throws {ExportError} `input` when it is not Parquet, or changed.
 */
export async function* readParquetIds(
  input: IdInput,
  entries: EntryBlocks,
  options: InputBytesOptions & {
    readonly form: ParquetForm;
    /** Entries that are enough, of those at the beginning. */
    readonly enough?: number | undefined;
  },
): AsyncGenerator<EntryBlock> {
  const isPlain = input.compression === 'none';
  const { column } = options.form;
  const file = isPlain ? await openInput(input) : await unpack(input, options);
  try {
    const table = await openTable(input, file);
    const bytes = table.buffer.byteLength;
    let row = 0;
    let reported = 0;
    for (const group of table.metadata.row_groups) {
      const rows = Math.min(Number(group.num_rows), (options.enough ?? Number.POSITIVE_INFINITY) - row);
      const values = await readColumn(table, column, row, row + rows);
      for (const value of values) {
        row += 1;
        addValue(entries, value, row);
        if (!entries.hasFull) continue;
        // Bytes are not read in order here, so progress goes by rows.
        const soFar = Math.floor((bytes * row) / Math.max(1, Number(table.metadata.num_rows)));
        if (isPlain) options.onBytes?.(soFar - reported);
        reported = soFar;
        yield* entries.take();
      }
      if (row >= (options.enough ?? Number.POSITIVE_INFINITY)) break;
    }
    if (isPlain) options.onBytes?.(bytes - reported);
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

/** Looks at the beginning of a Parquet file. @throws {ExportError} `input` when it is not Parquet, or no column is that of ids */
export async function surveyParquet(input: IdInput, asked: string | undefined): Promise<ListForm> {
  const file = input.compression === 'none' ? await openInput(input) : await unpack(input, {});
  try {
    const opened = await openTable(input, file);
    const rows = Math.min(Number(opened.metadata.num_rows), entriesLookedAt);
    // Values that are plain, not lists or structures.
    const plain = parquetSchema(opened.metadata).children.filter((child) => child.children.length === 0);
    const names = plain.map((child) => child.element.name);
    const beginning = async (place: number): Promise<unknown[]> => {
      if (rows === 0 || plain[place]?.element.type !== 'BYTE_ARRAY') return [];
      return readColumn(opened, names[place] ?? '', 0, rows);
    };
    const holdsIds = async (place: number): Promise<boolean> =>
      (await beginning(place)).some((value) => typeof value === 'string' && holdsId(value));
    const table = { input: input.name, names, named: true, asked };
    if (rows === 0) return await emptyTable(table);
    const { columns, guessed } = await chooseColumns({ ...table, holdsIds });
    const column = names[columns[0] ?? -1];
    if (column !== undefined) return { kind: 'parquet', column, taken: { input: input.name, column, guessed } };
    const first = await beginning(Math.max(0, names.indexOf(asked ?? '')));
    const samples = first.slice(0, mostSamples).map((value, row): Sample => ({ line: row + 1, text: String(value) }));
    throw noList({ input: input.name, head: Buffer.alloc(0), column: asked }, { entries: rows, samples, names });
  } finally {
    await file.close();
  }
}

/** Without rows, any column will do that the user may have named. */
async function emptyTable(table: Omit<TableStart, 'holdsIds'>): Promise<ListForm> {
  const [place = 0] =
    table.asked === undefined ? [] : (await chooseColumns({ ...table, holdsIds: () => true })).columns;
  return { kind: 'parquet', column: table.names[place] ?? '' };
}

/** A Parquet file of ids, and what its end says of it. */
interface OpenTable {
  readonly input: IdInput;
  readonly buffer: AsyncBuffer;
  readonly metadata: FileMetaData;
}

async function openTable(input: IdInput, file: FileHandle): Promise<OpenTable> {
  const buffer = await bufferOf(file);
  return { input, buffer, metadata: await asInput(input, () => parquetMetadataAsync(buffer)) };
}

/** The values of a column in the rows from `start` to before `end`. */
async function readColumn(table: OpenTable, column: string, start: number, end: number): Promise<unknown[]> {
  const values: unknown[] = [];
  await asInput(table.input, () =>
    parquetRead({
      file: table.buffer,
      metadata: table.metadata,
      columns: [column],
      rowStart: start,
      rowEnd: end,
      compressors,
      onChunk: ({ columnData, rowStart }) => {
        let at = rowStart - start;
        for (const value of columnData) values[at++] = value;
      },
    }),
  );
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
  const folder = await makeTemporary('ids');
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
