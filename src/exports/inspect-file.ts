import { parse } from 'csv-parse/sync';
import { parquetMetadataAsync, parquetSchema } from 'hyparquet';
import { CsvCounter } from '../lib/scan/csv-counter.ts';
import type { ByteScanner } from '../lib/scan/split-lines.ts';
import { codecOf, decompress } from '../lib/decompress.ts';
import { messageOf } from '../lib/export-error.ts';
import { type Format, formats } from '../core/formats/sink.ts';
import type { OpenFile } from '../places/files/open-file.ts';
import type { ManifestFile } from './finished-export.ts';
import { JsonLineCounter } from './json-line-counter.ts';
import { piecesOf, rangesOf } from '../places/export/part-bytes.ts';

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
  const begin = textInspections[format];
  if (begin === 'byDecoder') return afterwards(() => inspectParquet(open, file.bytes));
  const codec = codecOf(file.path);
  return codec === 'none'
    ? new TextInspector(begin())
    : afterwards(async () => {
        const inspector = new TextInspector(begin());
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

/** What is seen of a plain text while it passes. */
interface TextInspection {
  /** Throws at what is not of the format. */
  readonly counter: ByteScanner & { readonly rows: number };
  /** Of the text that has passed. */
  readonly columns: () => readonly string[] | undefined;
}

/** How the files of each format are inspected: as plain text, or by the decoder that opens them. */
const textInspections: Readonly<Record<Format, (() => TextInspection) | 'byDecoder'>> = {
  parquet: 'byDecoder',
  csv: () => {
    const counter = new CsvCounter();
    return { counter, columns: () => parse(counter.header ?? '', { record_delimiter: '\n' })[0] };
  },
  jsonl: () => {
    const counter = new JsonLineCounter();
    return { counter, columns: () => counter.keys };
  },
  raw: () => ({ counter: new JsonLineCounter(), columns: () => undefined }),
};

class TextInspector implements FileInspector {
  readonly #seen: TextInspection;
  #fault: unknown;

  constructor(seen: TextInspection) {
    this.#seen = seen;
  }

  push(piece: Uint8Array): void {
    if (this.#fault !== undefined) return;
    try {
      this.#seen.counter.push(piece);
    } catch (error) {
      // Kept until the whole file was hashed: that it changed says more.
      this.#fault = error;
    }
  }

  async end(): Promise<FileInspection> {
    if (this.#fault !== undefined) throw new Error(messageOf(this.#fault));
    const { counter, columns } = this.#seen;
    counter.end();
    return { rows: counter.rows, columns: columns() };
  }
}
