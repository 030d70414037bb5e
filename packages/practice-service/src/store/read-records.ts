import { isUtf8 } from 'node:buffer';
import { createReadStream, statSync } from 'node:fs';
import { isAssetId } from '../../../../src/lib/ids/asset-id.ts';
import { stringifyJson, type JsonObject } from '../../../../src/lib/json/json.ts';
import { codecOf, decompress } from '../../../../src/lib/decompress.ts';
import { codeOf, ExportError, messageOf } from '../../../../src/lib/export-error.ts';
import { type ByteSpan, splitLines } from '../../../../src/lib/scan/split-lines.ts';
import { capBytes } from '../http-answer.ts';
import { recordOf, type StoredRecord } from './stored-record.ts';
import { space, tab } from '../../../../src/lib/ascii.ts';

/** A record ready for a store. */
export interface NamedRecord {
  readonly id: string;
  readonly record: StoredRecord;
}

/** A file of a finished export: the texts of its records as lines, or what is rebuilt from its rows. */
export type ExportedFile = { readonly path: string } & (
  | { readonly lines: AsyncIterable<Uint8Array> }
  | { readonly records: AsyncIterable<JsonObject[]> }
);

export interface AssetSource {
  /** Paths of JSONL files, plain, `.gz` or `.zst`, and folders of finished exports. */
  readonly assets: readonly string[];
  /** The files that hold the records of a finished export. */
  readonly readExport: (folder: string) => Promise<readonly ExportedFile[]>;
}

/**
 * Reads records from JSONL files, plain, `.gz` or `.zst`, and from folders of finished exports, in order; empty lines
 * are passed over.
 * It yields what a piece of a file holds at a time.
 * @throws {ExportError} `input` for a file that cannot be read or a line that is no record.
 */
export async function* readRecords({ assets, readExport }: AssetSource): AsyncGenerator<NamedRecord[]> {
  for (const path of assets) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
      yield* readFile(path);
      continue;
    }
    for (const file of await readExport(path)) {
      if ('lines' in file) yield* readLines(file.lines, file.path);
      else yield* readable(file.path, rebuilt(file.records, file.path));
    }
  }
}

async function* rebuilt(records: AsyncIterable<JsonObject[]>, path: string): AsyncGenerator<NamedRecord[]> {
  for await (const some of records) {
    yield some.map((record) => {
      const { id } = record;
      if (typeof id !== 'string') throw misfit(path, 'of a row has no id');
      return { id, record: recordOf(Buffer.from(stringifyJson(record)), record) };
    });
  }
}

function readFile(path: string): AsyncGenerator<NamedRecord[]> {
  return readLines(decompress(createReadStream(path, { highWaterMark: 1 << 18 }), codecOf(path)), path);
}

function readLines(bytes: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<NamedRecord[]> {
  let records: NamedRecord[] = [];
  const lines = splitLines({
    // A longer record could not be served.
    longest: capBytes,
    onLine: (span) => {
      const record = readRecord(span, `${path}:${span.line}`);
      if (record !== undefined) records.push(record);
    },
  });
  const take = (): NamedRecord[] => {
    const taken = records;
    records = [];
    return taken;
  };
  return readable(
    path,
    (async function* () {
      for await (const piece of bytes) {
        lines.push(piece);
        yield take();
      }
      lines.end();
      yield take();
    })(),
  );
}

/** @throws {ExportError} `input` for whatever goes wrong in a file */
async function* readable<T>(path: string, read: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* read;
  } catch (error) {
    throw error instanceof ExportError && error.exit === 'input' ? error : unreadable(path, error);
  }
}

function readRecord(span: ByteSpan, where: string): NamedRecord | undefined {
  if (span.cut) throw misfit(where, `is longer than ${capBytes} bytes`);
  const text = withoutMark(span.bytes.subarray(span.start, span.end));
  if (text.every((byte) => byte === space || byte === tab)) return undefined;
  if (!isUtf8(text)) throw misfit(where, 'is not UTF-8');
  let value: unknown;
  try {
    value = JSON.parse(text.toString('utf8'));
  } catch (error) {
    throw isAssetId(/[^\s,;"']+/.exec(text.toString('utf8'))?.[0] ?? '')
      ? listed(where)
      : misfit(where, `is not JSON: ${messageOf(error)}`);
  }
  if (!isObject(value)) throw misfit(where, 'is not a JSON object');
  const { id } = value;
  if (typeof id !== 'string' || !isAssetId(id)) throw misfit(where, 'has no valid asset id in "id"');
  return { id, record: recordOf(Buffer.from(text), value) };
}

/** A byte order mark is no part of a line. */
function withoutMark(line: Buffer): Buffer {
  return line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? line.subarray(3) : line;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function misfit(where: string, why: string): ExportError {
  return new ExportError('input', `${where}: the line ${why}`, { todo: 'Use JSON lines: one asset record per line.' });
}

/** The error for a list of ids, where records are expected. */
function listed(where: string): ExportError {
  return new ExportError('input', `${where}: the line is an asset id, not a record`, {
    todo: 'Export the list first (asset-export run --ids LIST --out FOLDER), and name that folder.',
  });
}

/** The error for records that cannot be read. */
export function unreadable(path: string, cause: unknown): ExportError {
  const why = codeOf(cause) === 'ENOENT' ? 'no such file' : messageOf(cause);
  return new ExportError('input', `cannot read assets from ${path}: ${why}`, {
    todo: 'Name a file of records (JSON lines) or an export. To try, make one: asset-export demo',
    cause,
  });
}
