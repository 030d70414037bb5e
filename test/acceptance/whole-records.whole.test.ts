/// <reference lib="es2024.string" />
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBDecimalValue, DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import fc from 'fast-check';
import { parse, stringify } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { assetsTable } from '../../src/core/records/columns.ts';
import { flattenAsset } from '../../src/core/records/flatten-asset.ts';
import { type JsonObject, parseJson, stringifyJson } from '../../src/lib/json/json.ts';
import { rawLine } from '../../src/core/records/scan/record-rows.ts';
import { rebuildAsset } from '../../src/exports/records.ts';
import { blockOf, type RowBlock, cellOfText } from '../../src/core/records/row-block.ts';
import type { Cell, Row } from '../../src/core/records/table.ts';
import { FinishedExport, type ManifestFile } from '../../src/exports/finished-export.ts';
import { rawTable } from '../../src/core/work/part-build.ts';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { sinkFor } from '../../src/core/formats/registry.ts';
import { compressions, type Format } from '../../src/core/formats/sink.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import type { Manifest } from '../../src/places/export/manifest.ts';
import { ddlFor, loadStatementFor } from '../../src/wings/warehouse/engines.ts';
import { anyRecord, differenceOf } from '../core/records/any-record.ts';
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

interface Written {
  readonly folder: string;
  readonly file: string;
}

type Reader = (written: Written) => Promise<Row[]>;

async function collect<T>(pieces: AsyncIterable<T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const piece of pieces) all.push(...piece);
  return all;
}

/** The written file as the only one of a finished export. */
function finished({ folder, file }: Written): { whole: FinishedExport; part: ManifestFile } {
  const path = relative(folder, file);
  const format = path.slice(0, path.indexOf('/'));
  const { size: bytes } = statSync(file);
  const part = { path, format, table: 'assets', part: 0, rows: 0, bytes, sha256: '', first: 1, last: 1 };
  const tables = { assets: { rows: 0, columns: assetsTable.columns } };
  const manifest = { job: {}, tables, files: [part] } as unknown as Manifest;
  return { whole: new FinishedExport(localDisk, folder, manifest), part };
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
  async ({ folder }) => {
    const rows = await duckdb([
      ddlFor('duckdb', assetsTable),
      loadStatementFor('duckdb', { table: assetsTable, format, folder }),
      'SELECT * FROM assets',
    ]);
    return rows.map((row) => assetsTable.columns.map((_, at) => cellOfDuckdb(row[at] ?? null)));
  };

function cellOfDuckdb(value: DuckDBValue): Cell {
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
  parquet: { DuckDB: loadedByDuckdb('parquet'), 'the program': readBack },
  csv: { DuckDB: loadedByDuckdb('csv'), 'csv-parse': readBack },
  jsonl: {
    'DuckDB and lossless-json': async (written) => (await linesByDuckdb(written)).map(rowOfLine),
    'the program': readBack,
  },
};

async function write(format: Format, block: RowBlock): Promise<Written> {
  const folder = await tempFolder();
  const file = join(folder, format, 'assets', `part-00000.${format === 'raw' ? 'jsonl' : format}`);
  await mkdir(dirname(file), { recursive: true });
  const { columns } = format === 'raw' ? rawTable : assetsTable;
  const pieces: Uint8Array[] = [];
  const sink = await sinkFor(format);
  const output = { write: async (bytes: Uint8Array) => void pieces.push(Uint8Array.from(bytes)) };
  const [compression] = compressions[format];
  const encoder = await sink.open(output, { columns, compression, escapeFormulas: false });
  await encoder.write(block);
  await encoder.end();
  await writeFile(file, Buffer.concat(pieces));
  return { folder, file };
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
      const written = await write(
        'raw',
        blockOf(
          rawTable.columns,
          texts.map((text) => [rawLine(text)]),
        ),
      );
      expect(await linesByDuckdb(written)).toEqual(texts);
      const pieces: Uint8Array[] = [];
      const { whole: back, part } = finished(written);
      for await (const piece of back.bytes(part)) pieces.push(piece);
      expect(Buffer.concat(pieces).toString('utf8')).toBe(texts.map((text) => `${text}\n`).join(''));
    });

    const cases = Object.entries(rowReaders).flatMap(([format, readers]) =>
      Object.entries(readers).map(([name, read]) => ({ format: format as Format, name, read })),
    );
    // Promise, Nothing misread: Odd and generated records survive every format, by two readers each, except lone surrogates
    it.each(cases)('from $format, by $name', async ({ format, read }) => {
      const written = await write(format, blockOf(assetsTable.columns, rows));
      const back = await read(written);
      expect(back).toHaveLength(records.length);
      const exact = rows.filter((row) => stored(row).every((cell, at) => cell === row[at]));
      // Many records hold no half character: they are compared with what was asked, not with what was stored.
      expect(exact.length).toBeGreaterThan(rows.length / 3);
      for (const [at, row] of rows.entries()) {
        const wanted = exact.includes(row) ? records[at] : rebuildAsset(stored(row));
        const got = rebuildAsset(back[at] ?? []);
        expect(differenceOf(wanted ?? {}, got), texts[at]?.slice(0, 300)).toBeUndefined();
      }
    });
  },
);
