import { parse } from 'csv-parse/sync';
import { parquetMetadataAsync, parquetSchema } from 'hyparquet';
import { CsvCounter } from '../lib/scan/csv-counter.ts';
import { codecOf, decompress } from '../lib/decompress.ts';
import { messageOf } from '../lib/export-error.ts';
import { type Format, formats } from '../formats/sink.ts';
import type { OpenFile } from '../store/open-file.ts';
import type { ManifestFile } from './finished-export.ts';
import { JsonLineCounter } from './json-line-counter.ts';
import { piecesOf, rangesOf } from './part-bytes.ts';

/** What a finished file contains, read by other code than the code that wrote it. */
export interface FileInspection {
  readonly rows: number;
  /** Column names in order; undefined where the file names none (raw, JSONL without rows). */
  readonly columns: readonly string[] | undefined;
}

/** Inspects the content of a file. */
export interface FileInspector {
  /** Takes each piece of the file in turn, while it is hashed. */
  push(piece: Uint8Array): void;
  /** To be called when the hash is known to be right. @throws {Error} when the file is not of its format */
  end(): Promise<FileInspection | undefined>;
}

/** For the format of a custom sink, which only its program can read. */
const unread: FileInspector = { push: () => undefined, end: () => Promise.resolve(undefined) };

/**
 * Plain text is inspected while it is hashed, so that it is read once. What a decoder has to open is read again when the
 * hash is known: no decoder meets bytes that are not those that were written.
 */
export function inspectFile(open: OpenFile, file: Pick<ManifestFile, 'format' | 'path' | 'bytes'>): FileInspector {
  const format = formats.find((each) => each === file.format);
  if (format === undefined) return unread;
  if (format === 'parquet') return afterwards(() => inspectParquet(open, file.bytes));
  const codec = codecOf(file.path);
  return codec === 'none'
    ? new TextInspector(format)
    : afterwards(async () => {
        const inspector = new TextInspector(format);
        for await (const piece of decompress(piecesOf(open), codec)) inspector.push(piece);
        return inspector.end();
      });
}

function afterwards(end: () => Promise<FileInspection>): FileInspector {
  return { push: () => undefined, end };
}

async function inspectParquet(open: OpenFile, bytes: number): Promise<FileInspection> {
  const metadata = await parquetMetadataAsync(rangesOf(open, bytes));
  return {
    rows: Number(metadata.num_rows),
    columns: parquetSchema(metadata).children.map(({ element }) => element.name),
  };
}

class TextInspector implements FileInspector {
  readonly #format: Exclude<Format, 'parquet'>;
  readonly #counter: CsvCounter | JsonLineCounter;
  #fault: unknown;

  constructor(format: Exclude<Format, 'parquet'>) {
    this.#format = format;
    this.#counter = format === 'csv' ? new CsvCounter() : new JsonLineCounter();
  }

  push(piece: Uint8Array): void {
    if (this.#fault !== undefined) return;
    try {
      this.#counter.push(piece);
    } catch (error) {
      // Kept until the whole file was hashed: that it changed says more.
      this.#fault = error;
    }
  }

  async end(): Promise<FileInspection> {
    if (this.#fault !== undefined) throw new Error(messageOf(this.#fault));
    this.#counter.end();
    return { rows: this.#counter.rows, columns: this.#columns() };
  }

  #columns(): readonly string[] | undefined {
    if (this.#counter instanceof CsvCounter) return parse(this.#counter.header ?? '', { record_delimiter: '\n' })[0];
    return this.#format === 'raw' ? undefined : this.#counter.keys;
  }
}
