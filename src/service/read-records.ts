import { isUtf8 } from 'node:buffer';
import { statSync } from 'node:fs';
import { isAssetId } from '../assets/asset-id.ts';
import { stringifyJson } from '../assets/json.ts';
import { rebuildAsset } from '../assets/rebuild-asset.ts';
import type { Row } from '../assets/table.ts';
import { codeOf, ExportError, messageOf } from '../lib/export-error.ts';
import { type ByteSpan, splitLines } from '../lib/split-lines.ts';
import { exportFiles } from './export-files.ts';
import { capBytes } from './http-answer.ts';
import { plainBytes, readRows } from './read-rows.ts';
import { packRecord } from './stored-record.ts';

/** A record ready for a store. */
export interface PackedRecord {
  readonly id: string;
  readonly packed: Buffer;
}

/**
 * Reads records from JSONL files, plain, `.gz` or `.zst`, and from folders of finished exports, in order; empty lines
 * are passed over.
 * It yields what a piece of a file holds at a time.
 * @throws {ExportError} `input` for a file that cannot be read or a line that is no record.
 */
export async function* readRecords(paths: readonly string[]): AsyncGenerator<PackedRecord[]> {
  for (const path of paths) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) yield* readExport(path);
    else yield* readFile(path);
  }
}

/** The assets of a finished export: its raw lines, or records rebuilt from the rows of its assets table. */
async function* readExport(folder: string): AsyncGenerator<PackedRecord[]> {
  const { format, paths, layout } = exportFiles(folder);
  for (const path of paths) {
    if (format === 'raw') yield* readFile(path);
    else yield* readTable(readRows[format](path, layout), path);
  }
}

async function* readTable(rows: AsyncIterable<Row[]>, path: string): AsyncGenerator<PackedRecord[]> {
  try {
    for await (const some of rows) {
      yield some.map((row) => {
        const record = rebuildAsset(row);
        const { id } = record;
        if (typeof id !== 'string') throw misfit(path, 'of a row has no id');
        return { id, packed: packRecord(Buffer.from(stringifyJson(record)), record) };
      });
    }
  } catch (error) {
    throw error instanceof ExportError ? error : unreadable(path, error);
  }
}

async function* readFile(path: string): AsyncGenerator<PackedRecord[]> {
  let records: PackedRecord[] = [];
  const lines = splitLines({
    // A longer record could not be served.
    longest: capBytes,
    onLine: (span) => {
      const record = readRecord(span, `${path}:${span.line}`);
      if (record !== undefined) records.push(record);
    },
  });
  const take = (): PackedRecord[] => {
    const taken = records;
    records = [];
    return taken;
  };
  try {
    for await (const bytes of plainBytes(path)) {
      lines.push(bytes);
      yield take();
    }
    lines.end();
    yield take();
  } catch (error) {
    throw error instanceof ExportError ? error : unreadable(path, error);
  }
}

function readRecord(span: ByteSpan, where: string): PackedRecord | undefined {
  if (span.cut) throw misfit(where, `is longer than ${capBytes} bytes`);
  const text = withoutMark(span.bytes.subarray(span.start, span.end));
  if (text.every((byte) => byte === 0x20 || byte === 0x09)) return undefined;
  if (!isUtf8(text)) throw misfit(where, 'is not UTF-8');
  let value: unknown;
  try {
    value = JSON.parse(text.toString('utf8'));
  } catch (error) {
    throw misfit(where, `is not JSON: ${messageOf(error)}`);
  }
  if (!isObject(value)) throw misfit(where, 'is not a JSON object');
  const { id } = value;
  if (typeof id !== 'string' || !isAssetId(id)) throw misfit(where, 'has no "id" that is an asset id');
  return { id, packed: packRecord(text, value) };
}

/** A byte order mark is no part of a line. */
function withoutMark(line: Buffer): Buffer {
  return line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? line.subarray(3) : line;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function misfit(where: string, why: string): ExportError {
  return new ExportError('input', `${where}: the line ${why}`, { todo: 'give JSON lines, one asset record a line' });
}

function unreadable(path: string, cause: unknown): ExportError {
  const why = codeOf(cause) === 'ENOENT' ? 'no such file' : messageOf(cause);
  return new ExportError('input', `cannot read assets from ${path}: ${why}`, { cause });
}
