import { type InfoField, parse } from 'csv-parse';
import { cellOfJson, cellOfText } from '../records/cell-of-text.ts';
import { isJsonObject, type JsonObject, parseJson } from '../records/json/json.ts';
import type { Cell, Column, Row } from '../records/table.ts';
import type { Format } from '../formats/sink.ts';
import { splitLines } from '../lib/scan/split-lines.ts';
import { cellOfParquet, readParquet } from './parquet-rows.ts';

/** How a file holds the rows of a table. */
export interface RowLayout {
  /** The cells of a row. */
  readonly columns: readonly Column[];
  /** The name of each column in the file; a column that the file lacks is null. */
  readonly names: readonly (string | undefined)[];
  /** What a bare cell of CSV holds where the value is null. */
  readonly nullText: string;
}

/** Longest line of JSONL and raw. */
const longestLine = 256 << 20;

/** An open file, for who reads it from its beginning or in any order. */
export interface FileContent {
  /** Decompressed. */
  plain(): AsyncIterable<Uint8Array>;
  /** As it lies on disk. */
  ranges(): Parameters<typeof readParquet>[0];
}

/** Reads the rows of a file, as many at a time as fit in memory. */
export type RowReader = (file: FileContent, layout: RowLayout) => AsyncGenerator<Row[], void, void>;

/** What reads each format back: the most exact first, then the fastest. Raw files hold records, not rows. */
export const rowReaders: Readonly<Record<Exclude<Format, 'raw'>, RowReader>> = {
  parquet: (file, layout) => parquetRows(file.ranges(), layout),
  jsonl: (file, layout) => jsonlRows(file.plain(), layout),
  csv: (file, layout) => csvRows(file.plain(), layout),
};

/** The formats that hold rows, in the order of `rowReaders`. */
export const rowFormats = Object.keys(rowReaders) as (keyof typeof rowReaders)[];

async function* csvRows(
  bytes: AsyncIterable<Uint8Array>,
  { columns, names, nullText }: RowLayout,
): AsyncGenerator<Row[], void, void> {
  let places: readonly number[] | undefined;
  // Null is bare, and a text that reads the same is quoted.
  const cast = (text: string, { quoting }: InfoField): string | null => (text === nullText && !quoting ? null : text);
  const parser = parse({ cast });
  const feeding = (async () => {
    for await (const piece of bytes) {
      if (!parser.write(piece)) await new Promise((resolve) => parser.once('drain', resolve));
    }
    parser.end();
  })().catch((error: unknown) => parser.destroy(error instanceof Error ? error : new Error(String(error))));
  for await (const cells of parser as AsyncIterable<(string | null)[]>) {
    if (places === undefined) places = placesOf(names, cells);
    else yield [placed(columns, places, (place, { type }) => cellOfText(cells[place] ?? null, type))];
  }
  await feeding;
}

async function* jsonlRows(
  bytes: AsyncIterable<Uint8Array>,
  { columns, names }: RowLayout,
): AsyncGenerator<Row[], void, void> {
  for await (const objects of jsonLines(bytes)) {
    yield objects.map((object) => columns.map(({ type }, at) => cellOfJson(object[names[at] ?? ''], type)));
  }
}

/** The objects of JSON lines, as many at a time as a piece of the bytes holds. */
export async function* jsonLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<JsonObject[], void, void> {
  let objects: JsonObject[] = [];
  const lines = splitLines({
    longest: longestLine,
    onLine: ({ bytes: line, start, end }) => {
      if (start === end) return;
      const value = parseJson(line.toString('utf8', start, end));
      if (!isJsonObject(value)) throw new SyntaxError('a line is not a JSON object');
      objects.push(value);
    },
  });
  for await (const piece of bytes) {
    lines.push(piece);
    yield objects;
    objects = [];
  }
  lines.end();
  yield objects;
}

/** A row group at a time. */
async function* parquetRows(
  file: Parameters<typeof readParquet>[0],
  { columns, names }: RowLayout,
): AsyncGenerator<Row[], void, void> {
  const wanted = names.filter((name) => name !== undefined);
  for await (const { columns: found, rows } of readParquet(file, wanted)) {
    const places = placesOf(names, found);
    yield rows.map((cells) => placed(columns, places, (place, column) => cellOfParquet(cells[place], column)));
  }
}

function placesOf(names: RowLayout['names'], found: readonly unknown[]): number[] {
  return names.map((name) => (name === undefined ? -1 : found.indexOf(name)));
}

function placed(
  columns: readonly Column[],
  places: readonly number[],
  cellAt: (place: number, column: Column) => Cell,
): Row {
  return columns.map((column, index) => {
    const place = places[index] ?? -1;
    return place < 0 ? null : cellAt(place, column);
  });
}
