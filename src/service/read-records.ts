import { isUtf8 } from 'node:buffer';
import { isAssetId } from '../assets/asset-id.ts';
import { codeOf, ExportError, messageOf } from '../lib/export-error.ts';
import { readLines } from './read-lines.ts';
import { packRecord } from './stored-record.ts';

/** A record ready for a store. */
export interface PackedRecord {
  readonly id: string;
  readonly packed: Buffer;
}

/**
 * Reads records from JSONL files, in order; empty lines are passed over.
 * @throws {ExportError} `input` for a file that cannot be read or a line that is no record.
 */
export async function* readRecords(paths: readonly string[]): AsyncGenerator<PackedRecord[]> {
  for (const path of paths) {
    let line = 0;
    try {
      for await (const lines of readLines(path)) {
        yield lines.flatMap((text) => {
          line += 1;
          const record = readRecord(text, `${path}:${line}`);
          return record === undefined ? [] : [record];
        });
      }
    } catch (error) {
      throw error instanceof ExportError ? error : unreadable(path, line, error);
    }
  }
}

function readRecord(line: Buffer, where: string): PackedRecord | undefined {
  const text = withoutMark(line);
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

function unreadable(path: string, line: number, cause: unknown): ExportError {
  const why = codeOf(cause) === 'ENOENT' ? 'no such file' : messageOf(cause);
  return new ExportError('input', `cannot read assets from ${path} after line ${line}: ${why}`, { cause });
}
