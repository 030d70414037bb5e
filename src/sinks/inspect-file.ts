import { parse } from 'csv-parse/sync';
import { type AsyncBuffer, parquetMetadataAsync, parquetSchema } from 'hyparquet';
import { CsvCounter } from '../lib/csv-counter.ts';
import type { ByteScanner } from '../lib/split-lines.ts';
import { JsonLineCounter } from './json-line-counter.ts';
import type { Format } from './sink.ts';

/** What a finished file says of itself. */
export interface FileInspection {
  readonly rows: number;
  /** Column names in order; undefined where the file has none to tell (raw, JSONL without rows). */
  readonly columns: readonly string[] | undefined;
}

/** Takes the plain bytes of a file as they come. Both methods throw at what is not of the format. */
export interface TextInspector {
  push(bytes: Uint8Array): void;
  end(): FileInspection;
}

/** Reads the metadata with another library than the one that wrote it. @throws {Error} when it is no Parquet file */
export async function inspectParquet(file: AsyncBuffer): Promise<FileInspection> {
  const metadata = await parquetMetadataAsync(file);
  return {
    rows: Number(metadata.num_rows),
    columns: parquetSchema(metadata).children.map(({ element }) => element.name),
  };
}

/** Looks at text with other code than that which wrote it. */
export function inspectText(format: Exclude<Format, 'parquet'>): TextInspector {
  if (format === 'csv') {
    const counter = new CsvCounter();
    return inspector(counter, () => parse(counter.header ?? '', { record_delimiter: '\n' })[0]);
  }
  const counter = new JsonLineCounter();
  return inspector(counter, () => (format === 'raw' ? undefined : counter.keys));
}

function inspector(
  counter: ByteScanner & { readonly rows: number },
  columns: () => FileInspection['columns'],
): TextInspector {
  return {
    push(bytes) {
      counter.push(bytes);
    },
    end() {
      counter.end();
      return { rows: counter.rows, columns: columns() };
    },
  };
}
