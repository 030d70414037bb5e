import { parse } from 'csv-parse';
import { type AsyncBuffer, parquetMetadataAsync, parquetSchema } from 'hyparquet';
import type { Format } from './sink.ts';

/** What a finished file says of itself. */
export interface FileInspection {
  readonly rows: number;
  /** Column names in order; undefined where the file has none to tell (raw, JSONL without rows). */
  readonly columns: readonly string[] | undefined;
}

/** A file that can be read again: as a stream of its plain bytes, and by ranges. */
export interface InspectedFile extends AsyncBuffer {
  plainBytes(): AsyncIterable<Uint8Array>;
}

/** Reads a file with another library than the one that wrote it. @throws {Error} when it is not a file of its format */
export function inspectFile(format: Format, file: InspectedFile): Promise<FileInspection> {
  return inspectors[format](file);
}

const inspectors: Readonly<Record<Format, (file: InspectedFile) => Promise<FileInspection>>> = {
  parquet: async (file) => {
    const metadata = await parquetMetadataAsync(file);
    return {
      rows: Number(metadata.num_rows),
      columns: parquetSchema(metadata).children.map(({ element }) => element.name),
    };
  },
  csv: async (file) => {
    const parser = parse({ relax_column_count: false });
    const feeding = feed(file.plainBytes(), parser);
    let columns: readonly string[] | undefined;
    let rows = -1;
    for await (const row of parser as AsyncIterable<string[]>) {
      columns ??= row;
      rows += 1;
    }
    await feeding;
    return { rows, columns };
  },
  jsonl: async (file) => {
    let columns: readonly string[] | undefined;
    let rows = 0;
    for await (const line of lines(file.plainBytes())) {
      const row: unknown = JSON.parse(line);
      if (typeof row !== 'object' || row === null) throw new Error(`line ${rows + 1} is no JSON object`);
      columns ??= Object.keys(row);
      rows += 1;
    }
    return { rows, columns };
  },
  raw: async (file) => {
    let rows = 0;
    for await (const line of lines(file.plainBytes())) {
      JSON.parse(line);
      rows += 1;
    }
    return { rows, columns: undefined };
  },
};

async function feed(bytes: AsyncIterable<Uint8Array>, parser: ReturnType<typeof parse>): Promise<void> {
  try {
    for await (const piece of bytes) {
      if (!parser.write(piece)) await new Promise((resolve) => parser.once('drain', resolve));
    }
    parser.end();
  } catch (error) {
    parser.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Lines that end in LF; a last one that does not is an error, since every line of ours does. */
async function* lines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  let rest = Buffer.alloc(0);
  for await (const piece of bytes) {
    const all = rest.length === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece]);
    let start = 0;
    for (let end = all.indexOf(10); end >= 0; end = all.indexOf(10, start)) {
      yield all.toString('utf8', start, end);
      start = end + 1;
    }
    rest = all.subarray(start);
  }
  if (rest.length > 0) throw new Error('the last line is cut');
}
