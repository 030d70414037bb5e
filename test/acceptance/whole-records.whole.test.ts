/// <reference lib="es2024.string" />
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBListValue,
  DuckDBStructValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import fc from 'fast-check';
import { parse, stringify } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { assetsTable } from '../../src/core/records/columns.ts';
import { flattenAsset } from '../../src/core/records/flatten-asset.ts';
import { isJsonObject, type Json, type JsonObject, parseJson, stringifyJson } from '../../src/lib/json/json.ts';
import { setMember } from '../../src/lib/json/json-value.ts';
import { listText } from '../../src/core/records/list-elements.ts';
import { rawLine } from '../../src/core/records/scan/record-rows.ts';
import { rebuildAsset } from '../../src/core/records/rebuild-asset.ts';
import { blockOf, type RowBlock } from '../../src/core/records/row-block.ts';
import { type ShapedTable, shapeTable, wholeTables } from '../../src/core/records/shape-table.ts';
import type { Cell, Column, Row } from '../../src/core/records/table.ts';
import { FinishedExport, type ManifestFile } from '../../src/exports/finished-export.ts';
import { rawTable } from '../../src/core/work/part-build.ts';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { cellOfText } from '../../src/core/records/cell-of-text.ts';
import { sinkFor } from '../../src/core/formats/registry.ts';
import { compressions, type Format } from '../../src/core/formats/sink.ts';
import { diskFileStore } from '../../src/places/files/file-store.ts';
import type { Manifest } from '../../src/places/export/manifest.ts';
import { ddlFor, loadStatementFor } from '../../src/wings/warehouse/dialects.ts';
import { anyRecord, differenceOf, sameList } from '../core/records/any-record.ts';
import { sqlText } from '../support/query-duckdb.ts';
import { tempFolder } from '../support/temp-folder.ts';

const realAssets = fileURLToPath(new URL('../../../shared/data/real-assets.jsonl', import.meta.url));
const kinds: Readonly<Record<string, readonly string[]>> = {
  any: fc.sample(anyRecord, { seed: 4, numRuns: 250 }).map(stringifyJson),
  generated: Array.from({ length: 300 }, (_, n) => generatedRecord(generatedId(4, n))),
  real: existsSync(realAssets)
    ? readFileSync(realAssets, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [],
};
if (kinds['real']?.length === 0) console.warn(`no real records are read: ${realAssets} is absent`);

const shapes: Readonly<Record<string, ShapedTable>> = {
  flat: shapeTable(assetsTable, wholeTables),
  nested: shapeTable(assetsTable, { ...wholeTables, nested: true }),
};

interface Written {
  readonly folder: string;
  readonly file: string;
  readonly shaped: ShapedTable;
}

type Reader = (written: Written) => Promise<Row[]>;

async function collect<T>(pieces: AsyncIterable<T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const piece of pieces) all.push(...piece);
  return all;
}

/** The written file as the only one of a finished export. */
function finished({ folder, file, shaped }: Written): { whole: FinishedExport; part: ManifestFile } {
  const path = relative(folder, file);
  const format = path.slice(0, path.indexOf('/'));
  const { size: bytes } = statSync(file);
  const part = { path, format, table: 'assets', part: 0, rows: 0, bytes, sha256: '', first: 1, last: 1 };
  const tables = { assets: { rows: 0, columns: shaped.table.columns } };
  const manifest = { job: {}, tables, files: [part] } as unknown as Manifest;
  return { whole: new FinishedExport(diskFileStore, folder, manifest), part };
}

const readBack: Reader = (written) => {
  const { whole, part } = finished(written);
  return collect(whole.rows(part, assetsTable.columns));
};

async function duckdb(statements: readonly string[]): Promise<DuckDBValue[][]> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  let rows: DuckDBValue[][] = [];
  for (const sql of statements) rows = (await connection.runAndReadAll(sql)).getRows();
  connection.closeSync();
  instance.closeSync();
  return rows;
}

/** Lines as DuckDB reads them, one text a line: no JSON holds the bytes 1 and 2. */
async function linesByDuckdb({ file }: Written): Promise<string[]> {
  const rows = await duckdb([
    `SELECT * FROM read_csv(${sqlText(file)}, auto_detect = false, header = false, delim = '\x01', quote = '\x02', columns = {'line': 'VARCHAR'}, max_line_size = 67108864)`,
  ]);
  return rows.map(([line]) => String(line));
}

const loadedByDuckdb =
  (format: 'parquet' | 'csv'): Reader =>
  async ({ folder, shaped }) => {
    // Only Parquet keeps lists as such.
    const { table } = format === 'csv' ? shapeTable(assetsTable, wholeTables) : shaped;
    const rows = await duckdb([
      ddlFor('duckdb', table),
      loadStatementFor('duckdb', { table, format, folder }),
      'SELECT * FROM assets',
    ]);
    return rows.map((row) => table.columns.map((column, at) => cellOfDuckdb(row[at] ?? null, column)));
  };

function cellOfDuckdb(value: DuckDBValue, column: Column): Cell {
  if (value instanceof DuckDBListValue) {
    const elements = column.elements ?? [];
    return listText(
      elements,
      value.items.map((item) =>
        item instanceof DuckDBStructValue
          ? elements.map((each) => cellOfDuckdb(item.entries[each.name] ?? null, each))
          : null,
      ),
    );
  }
  if (value instanceof DuckDBDecimalValue) return value.value;
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean' || value === null)
    return value;
  if (typeof value === 'number') return value;
  throw new Error(`DuckDB gives a ${typeof value}`);
}

/** A JSONL line by lossless-json, which is no part of the program. */
function rowOfLine(line: string): Row {
  const row = parse(line) as Record<string, unknown>;
  return assetsTable.columns.map(({ name, type }) => {
    const value = row[name] ?? null;
    if (value === null) return null;
    return type === 'json'
      ? (stringify(value) ?? null)
      : cellOfText(typeof value === 'string' ? value : (stringify(value) ?? ''), type);
  });
}

const rowReaders: Readonly<Record<'parquet' | 'csv' | 'jsonl', Readonly<Record<string, Reader>>>> = {
  parquet: { DuckDB: loadedByDuckdb('parquet'), hyparquet: readBack },
  csv: { DuckDB: loadedByDuckdb('csv'), 'csv-parse': readBack },
  jsonl: {
    'DuckDB and lossless-json': async (written) => (await linesByDuckdb(written)).map(rowOfLine),
    'the program': readBack,
  },
};

async function write(format: Format, block: RowBlock, shaped: ShapedTable): Promise<Written> {
  const folder = await tempFolder();
  const file = join(folder, format, 'assets', `part-00000.${format === 'raw' ? 'jsonl' : format}`);
  await mkdir(dirname(file), { recursive: true });
  const { columns } = format === 'raw' ? rawTable : shaped.table;
  const pieces: Uint8Array[] = [];
  const sink = await sinkFor(format);
  const output = { write: async (bytes: Uint8Array) => void pieces.push(Uint8Array.from(bytes)) };
  const [compression] = compressions[format];
  const encoder = await sink.open(output, { columns, compression, escapeFormulas: false });
  await encoder.write(block);
  await encoder.end();
  await writeFile(file, Buffer.concat(pieces));
  return { folder, file, shaped };
}

/** Takes the lists out of a copy of a record, to compare them by their elements. */
function splitLists(record: JsonObject): { rest: JsonObject; lists: Json[] } {
  const rest = parseJson(stringifyJson(record)) as JsonObject;
  const lists = listColumns.map(({ path }) => {
    const parent = path.slice(0, -1).reduce<Json>((at, name) => (isJsonObject(at) ? (at[name] ?? null) : null), rest);
    const last = path.at(-1) ?? '';
    if (!isJsonObject(parent) || !Object.hasOwn(parent, last)) return null;
    const list = parent[last] ?? null;
    setMember(parent, last, null);
    return list;
  });
  return { rest, lists };
}

const listColumns = shapes['nested']?.table.columns.filter(({ elements }) => elements !== undefined) ?? [];

function difference(left: JsonObject, right: JsonObject, isNested: boolean): string | undefined {
  if (!isNested) return differenceOf(left, right);
  const [one, other] = [splitLists(left), splitLists(right)];
  for (const [at, column] of listColumns.entries()) {
    const [list, back] = [one.lists[at] ?? null, other.lists[at] ?? null];
    const isSame = Array.isArray(list) ? sameList(list, back, column) : stringifyJson(list) === stringifyJson(back);
    if (!isSame) return column.name;
  }
  return differenceOf(one.rest, other.rest);
}

/** The row as files hold it: half characters in text columns are gone. */
function stored(row: Row): Row {
  return row.map((cell, at) => {
    const isText = assetsTable.columns[at]?.type === 'string';
    return isText && typeof cell === 'string' ? cell.toWellFormed() : cell;
  });
}

describe.each(Object.entries(kinds).filter(([, texts]) => texts.length > 0))(
  '%s records come back equal',
  (_, texts) => {
    const records = texts.map((text) => parseJson(text) as JsonObject);
    const rows = records.map((record) => flattenAsset(record).row);

    it('from raw, by DuckDB and as lines', async () => {
      const whole = shapes['flat'];
      if (whole === undefined) throw new Error('no shape');
      const written = await write(
        'raw',
        blockOf(
          rawTable.columns,
          texts.map((text) => [rawLine(text)]),
        ),
        whole,
      );
      expect(await linesByDuckdb(written)).toEqual(texts);
      const pieces: Uint8Array[] = [];
      const { whole: back, part } = finished(written);
      for await (const piece of back.bytes(part)) pieces.push(piece);
      expect(Buffer.concat(pieces).toString('utf8')).toBe(texts.map((text) => `${text}\n`).join(''));
    });

    const cases = Object.entries(rowReaders).flatMap(([format, readers]) =>
      Object.entries(shapes).flatMap(([shape, shaped]) =>
        Object.entries(readers).map(([name, read]) => ({ format: format as Format, shape, shaped, name, read })),
      ),
    );
    it.each(cases)('from $format, $shape, by $name', async ({ format, shape, shaped, read }) => {
      const block = shaped.pick(blockOf(assetsTable.columns, rows), () => undefined);
      const written = await write(format, block, shaped);
      const back = await read(written);
      expect(back).toHaveLength(records.length);
      const exact = rows.filter((row) => stored(row).every((cell, at) => cell === row[at]));
      // Many records hold no half character: they are compared with what was asked, not with what was stored.
      expect(exact.length).toBeGreaterThan(rows.length / 3);
      for (const [at, row] of rows.entries()) {
        const wanted = exact.includes(row) ? records[at] : rebuildAsset(stored(row));
        const got = rebuildAsset(back[at] ?? []);
        expect(difference(wanted ?? {}, got, shape === 'nested'), texts[at]?.slice(0, 300)).toBeUndefined();
      }
    });
  },
);
