/// <reference lib="es2024.string" />
import { type FileMetaData, parquetMetadata, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { parse } from 'csv-parse/sync';
import { parse as parseLossless, stringify as stringifyLossless } from 'lossless-json';
import type { Cell, Column, Row } from '../../../src/core/records/table.ts';
import { isoText, type TextRow } from '../../support/read-table.ts';

/** What a reader should make of rows, as `readTable` writes values. */
export function expectedRows(columns: readonly Column[], rows: readonly Row[]): TextRow[] {
  return rows.map((row) => columns.map(({ type }, index) => expectedText(row[index] ?? null, type)));
}

function expectedText(cell: Cell, type: Column['type']): string | null {
  if (cell === null) return null;
  if (type === 'json') return jsonText(String(cell));
  if (type === 'timestamp') return isoText(BigInt(String(cell)));
  if (type === 'double') return Object.is(cell, -0) ? '-0' : String(cell);
  return typeof cell === 'string' ? cell.toWellFormed() : String(cell);
}

/** JSON text without blanks, every digit kept. */
function jsonText(text: string): string {
  return stringifyLossless(parseLossless(text)) ?? '';
}

/** Reads Parquet with hyparquet: another library than the one that wrote it. */
export async function readWithHyparquet(bytes: Buffer, columns: readonly Column[]): Promise<TextRow[]> {
  const file = new Uint8Array(bytes).buffer;
  const metadata = withPlainTypes(parquetMetadata(file));
  const rows = await parquetReadObjects({ file, compressors, metadata, utf8: false });
  return rows.map((row) => columns.map((column) => hyparquetText(row[column.name], column.type)));
}

/** Reads CSV with csv-parse, which tells a quoted empty cell from an empty one. */
export function readWithCsvParse(bytes: Buffer, columns: readonly Column[]): TextRow[] {
  const [header, ...rows] = parse(bytes, {
    record_delimiter: '\n',
    cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
  }) as unknown as (string | null)[][];
  if (header?.join() !== columns.map(({ name }) => name).join()) throw new Error(`the header is ${String(header)}`);
  return rows.map((row) =>
    columns.map(({ type }, index) => {
      const value = row[index] ?? null;
      return value !== null && type === 'json' ? jsonText(value) : value;
    }),
  );
}

/** Reads JSONL line by line; every line names all columns in order. */
export function readWithLosslessJson(bytes: Buffer, columns: readonly Column[]): TextRow[] {
  const lines = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).split('\n');
  if (lines.pop() !== '') throw new Error('the last line does not end');
  return lines.map((line) => {
    const row = parseLossless(line) as Record<string, unknown>;
    if (Object.keys(row).join() !== columns.map(({ name }) => name).join()) throw new Error(`other keys: ${line}`);
    return columns.map(({ name, type }) => {
      const value = row[name];
      if (value === null || value === undefined) return null;
      if (type === 'json') return stringifyLossless(value) ?? '';
      return typeof value === 'string' ? value : (stringifyLossless(value) ?? '');
    });
  });
}

/** Hyparquet makes a double of a decimal and cuts a byte order mark: without logical types it gives the bytes. */
function withPlainTypes(metadata: FileMetaData): FileMetaData {
  const schema = metadata.schema.map((element) => {
    const plain = { ...element };
    delete plain.converted_type;
    delete plain.logical_type;
    return plain;
  });
  return { ...metadata, schema };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function hyparquetText(value: unknown, type: Column['type']): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (type === 'timestamp' && typeof value === 'bigint') return isoText(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (!(value instanceof Uint8Array)) throw new Error(`hyparquet gave a ${typeof value}`);
  if (type === 'decimal') return String(bigIntOf(value));
  return type === 'json' ? jsonText(utf8.decode(value)) : utf8.decode(value);
}

/** Two's complement, the highest byte first. */
function bigIntOf(bytes: Uint8Array): bigint {
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
}
