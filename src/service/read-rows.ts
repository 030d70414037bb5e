import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { type InfoField, parse } from 'csv-parse';
import { assetsTable } from '../assets/columns.ts';
import { isJsonObject, parseJson } from '../assets/json.ts';
import { cellOfParquet } from '../assets/parquet-cell.ts';
import type { Cell, Column, Row } from '../assets/table.ts';
import { codecOf, decompress } from '../lib/decompress.ts';
import { readParquet } from '../lib/parquet-rows.ts';
import { splitLines } from '../lib/split-lines.ts';
import { cellOfJson, cellOfText } from './cell-of-text.ts';
import type { FileLayout, ReadableFormat } from './export-files.ts';

const { columns } = assetsTable;

type ReadRows = (path: string, layout: FileLayout) => AsyncIterable<Row[]>;

/** Rows of the assets table from one file, in the order of today's columns: one that the file lacks is null. */
export const readRows: Readonly<Record<Exclude<ReadableFormat, 'raw'>, ReadRows>> = {
  csv: readCsvRows,
  jsonl: readJsonlRows,
  parquet: readParquetRows,
};

export function plainBytes(path: string): AsyncIterable<Uint8Array> {
  return decompress(createReadStream(path, { highWaterMark: 1 << 18 }), codecOf(path));
}

async function* readCsvRows(path: string, { names, nullText }: FileLayout): AsyncGenerator<Row[], void, void> {
  let places: readonly number[] | undefined;
  // Null is bare, and a text that reads the same is quoted.
  const cast = (text: string, { quoting }: InfoField): string | null => (text === nullText && !quoting ? null : text);
  const parser = parse({ cast });
  const feeding = (async () => {
    for await (const bytes of plainBytes(path)) {
      if (!parser.write(bytes)) await new Promise((resolve) => parser.once('drain', resolve));
    }
    parser.end();
  })().catch((error: unknown) => parser.destroy(error instanceof Error ? error : new Error(String(error))));
  for await (const cells of parser as AsyncIterable<(string | null)[]>) {
    if (places === undefined) places = names.map((name) => cells.indexOf(name));
    else yield [placed(places, (place, { type }) => cellOfText(cells[place] ?? null, type))];
  }
  await feeding;
}

async function* readJsonlRows(path: string, { names }: FileLayout): AsyncGenerator<Row[], void, void> {
  let rows: Row[] = [];
  const lines = splitLines({
    longest: 256 << 20,
    onLine: ({ bytes, start, end }) => {
      if (start === end) return;
      const value = parseJson(bytes.toString('utf8', start, end));
      if (!isJsonObject(value)) throw new SyntaxError('a line is no JSON object');
      rows.push(columns.map(({ type }, index) => cellOfJson(value[names[index] ?? ''], type)));
    },
  });
  for await (const piece of plainBytes(path)) {
    lines.push(piece);
    yield rows;
    rows = [];
  }
  lines.end();
  yield rows;
}

async function* readParquetRows(path: string, layout: FileLayout): AsyncGenerator<Row[], void, void> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const file = {
      byteLength: size,
      slice: async (start: number, end = size): Promise<ArrayBuffer> => {
        const bytes = new Uint8Array(end - start);
        await handle.read(bytes, 0, bytes.length, start);
        return bytes.buffer;
      },
    };
    for await (const { columns: found, rows } of readParquet(file)) {
      const places = layout.names.map((name) => found.indexOf(name));
      yield rows.map((cells) => placed(places, (place, column) => cellOfParquet(cells[place], column)));
    }
  } finally {
    await handle.close();
  }
}

function placed(places: readonly number[], cellAt: (place: number, column: Column) => Cell): Row {
  return columns.map((column, index) => {
    const place = places[index] ?? -1;
    return place < 0 ? null : cellAt(place, column);
  });
}
