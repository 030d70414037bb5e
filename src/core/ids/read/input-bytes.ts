import { createHash } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { decompress } from '../../../lib/decompress.ts';
import { codeOf, ExportError, messageOf } from '../../../lib/export-error.ts';
import { type IdInput, startsAs } from '../id-input.ts';
import { factsOfBytes } from '../../../lib/hash/sha256.ts';
import { isBucketAddress } from '../../../lib/addresses/address-kinds.ts';
import { shellWord } from '../../../lib/addresses/shown-text.ts';

export interface InputBytesOptions {
  /** When given, the bytes read are checked against it. */
  readonly expected?: InputFingerprint | undefined;
  /** Told what was read, at its end. */
  readonly onFingerprint?: ((fingerprint: InputFingerprint) => void) | undefined;
  /** Told how many more bytes of the file, as it lies on disk, were read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/**
 * The bytes of an input, decompressed.
 * @throws {ExportError} `input` when it cannot be read or decompressed; with `expected`, when it is no longer what it
 *   was: before the first byte if its size tells, else at its end.
 */
export async function* inputBytes(input: IdInput, options: InputBytesOptions = {}): AsyncGenerator<Uint8Array> {
  try {
    yield* decompress(checkedBytes(input, options), input.compression);
  } catch (error) {
    if (error instanceof ExportError) throw error;
    throw new ExportError('input', `cannot decompress ${input.name}: ${messageOf(error)}`, {
      todo: `It is read as ${input.compression} and is damaged or truncated; copy or create it again.`,
      cause: error,
    });
  }
}

async function* checkedBytes(
  input: IdInput,
  { expected, onBytes, onFingerprint }: InputBytesOptions,
): AsyncGenerator<Uint8Array> {
  if (expected !== undefined) await checkSize(input, expected);
  const hash = expected === undefined && onFingerprint === undefined ? undefined : createHash('sha256');
  let bytes = 0;
  for await (const piece of fileBytes(input)) {
    hash?.update(piece);
    bytes += piece.length;
    onBytes?.(piece.length);
    yield piece;
  }
  if (hash === undefined) return;
  const sha256 = hash.digest('hex');
  if (expected !== undefined && sha256 !== expected.sha256) throw changed(input);
  onFingerprint?.({ name: input.name, bytes, sha256 });
}

/** Size alone, before anything is read: it shows most changes and costs nothing. */
async function checkSize(input: IdInput, expected: InputFingerprint): Promise<void> {
  const stats = await stat(input.path).catch(() => undefined);
  if (stats !== undefined && stats.size !== expected.bytes) throw changed(input);
}

/** Checks an input that is not read from beginning to end. @throws {ExportError} `input` when it changed. */
export async function checkUnchanged(input: IdInput, expected: InputFingerprint): Promise<void> {
  await checkSize(input, expected);
  const [now] = await fingerprintInputs([input]);
  if (now?.sha256 !== expected.sha256) throw changed(input);
}

function changed(input: IdInput): ExportError {
  return new ExportError('input', `${input.name} changed while it was read or since the export started`, {
    todo: 'Restore the old file, or start over with --fresh.',
  });
}

/** Bytes of one read: each wakes another thread, so few are better. */
const readBytes = 262_144;

/** Bytes that go down the flow at once: what is unpacked from them is small, and what is counted as read soon is. */
const pieceBytes = 65_536;

/**
 * The bytes of an input as they lie on disk. Each piece is good until the next is asked for: all come in one buffer.
 * @throws {ExportError} `input` when it cannot be read.
 */
async function* fileBytes(input: IdInput): AsyncGenerator<Uint8Array> {
  if (input.read !== undefined) {
    yield* inPieces(input.read());
    return;
  }
  const file = await openInput(input);
  let buffer = Buffer.allocUnsafeSlow(pieceBytes);
  try {
    for (;;) {
      const bytesRead = await readAt(input, file, buffer);
      if (bytesRead === 0) return;
      yield* piecesOf(buffer.subarray(0, bytesRead));
      // Most lists end in the first read: memory for them is not to be that of a long one.
      if (bytesRead === buffer.length && bytesRead < readBytes) buffer = Buffer.allocUnsafeSlow(readBytes);
    }
  } finally {
    await file.close();
  }
}

async function* inPieces(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const block of blocks) yield* piecesOf(block);
}

function* piecesOf(block: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < block.length; start += pieceBytes) yield block.subarray(start, start + pieceBytes);
}

/** Opens an input for reading. @throws {ExportError} `input` */
export async function openInput(input: IdInput): Promise<FileHandle> {
  try {
    return await open(input.path, 'r');
  } catch (error) {
    throw unreadable(input, error);
  }
}

async function readAt(input: IdInput, file: FileHandle, buffer: Buffer): Promise<number> {
  try {
    return (await file.read(buffer, 0, buffer.length)).bytesRead;
  } catch (error) {
    throw unreadable(input, error);
  }
}

function unreadable(input: IdInput, error: unknown): ExportError {
  const code = codeOf(error);
  const why = code === 'ENOENT' ? 'no such file' : code === 'EISDIR' ? 'it is a folder' : messageOf(error);
  return new ExportError('input', `cannot read ${input.name}: ${why}`, {
    todo: 'Check that the file exists and is readable.',
    cause: error,
  });
}

/** Identifies the content of an input: size and hash of the file on disk. */
export interface InputFingerprint {
  readonly name: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Reads every input once, to know it again later. @throws {ExportError} `input` when one cannot be read. */
export async function fingerprintInputs(inputs: readonly IdInput[]): Promise<InputFingerprint[]> {
  const fingerprints: InputFingerprint[] = [];
  for (const input of inputs) {
    fingerprints.push({ name: input.name, ...(await factsOfBytes(fileBytes(input))) });
  }
  return fingerprints;
}

/** How much of a file is looked at to see what it is. */
const kindBytes = 64;

/** What files are that are no text. */
const noText = [
  { kind: 'gzip', is: 'gzip data', todo: 'Rename it to end in .gz.' },
  { kind: 'zstd', is: 'zstd data', todo: 'Rename it to end in .zst.' },
  { kind: 'parquet', is: 'a Parquet file', todo: 'Rename it to end in .parquet, or use --ids-format parquet.' },
  { kind: 'zip', is: 'a zip archive (or a spreadsheet)', todo: 'Unpack it, or save the spreadsheet as CSV.' },
  { kind: 'bzip2', is: 'bzip2 data', todo: 'Unpack it with bunzip2, or pack it with gzip or zstd instead.' },
  { kind: 'xz', is: 'xz data', todo: 'Unpack it with unxz, or pack it with gzip or zstd instead.' },
  { kind: 'lz4', is: 'lz4 data', todo: 'Unpack it with unlz4, or pack it with gzip or zstd instead.' },
  { kind: 'sevenZip', is: 'a 7z archive', todo: 'Unpack it, and name the files in it.' },
  { kind: 'pdf', is: 'a PDF', todo: 'Save the ids as text, one a line.' },
  { kind: 'sqlite', is: 'an SQLite database', todo: 'Save the ids as CSV: sqlite3 -csv FILE "SELECT …" > ids.csv' },
  { kind: 'ole', is: 'an old Excel or Word file', todo: 'Save the table as CSV.' },
  { kind: 'arrow', is: 'an Arrow or Feather file', todo: 'Save it as Parquet or CSV.' },
  { kind: 'avro', is: 'an Avro file', todo: 'Save it as Parquet, CSV or JSON lines.' },
] as const;

/**
 * Lets the bytes of a text file through, without its byte order mark.
 * @throws {ExportError} `input` when they are clearly something else: every line would be invalid, without a reason.
 */
export async function* checkText(input: IdInput, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const piece of bytes) {
    if (head === undefined) {
      yield piece;
      continue;
    }
    head = head.length === 0 ? Buffer.from(piece) : Buffer.concat([head, piece]);
    if (head.length < kindBytes) continue;
    yield textAfterMark(input, head);
    head = undefined;
  }
  if (head !== undefined && head.length > 0) yield textAfterMark(input, head);
}

function textAfterMark(input: IdInput, head: Buffer): Buffer {
  for (const { kind, is, todo } of noText) {
    if (startsAs(kind, head)) throw new ExportError('input', `${input.name} is ${is}, not text`, { todo });
  }
  if (isWide(head)) {
    throw new ExportError('input', `${input.name} is UTF-16 text; ids must be UTF-8`, {
      todo: listTodo('Convert it', input.name, ['iconv -f UTF-16 -t UTF-8']),
    });
  }
  const hasMark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
  return hasMark ? head.subarray(3) : head;
}

/** UTF-16 or UTF-32 by its byte order mark, or without one by the NUL next to each of the first letters. */
function isWide(head: Buffer): boolean {
  const [first, second] = head;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  if (head.length < 8) return false;
  const look = head.subarray(0, kindBytes & ~1);
  const nulAt = (odd: number): boolean => look.every((byte, index) => (index % 2 === odd ? byte === 0 : byte !== 0));
  return nulAt(0) || nulAt(1);
}

/**
 * How to make a list of ids from an input, with lines that can be typed. A shell cannot read an object: it is copied first.
 * @param what the lines do
 * @param commands each reads the input from stdin, and writes an id a line
 */
export function listTodo(what: string, input: string, commands: readonly string[], ending = 'txt'): string {
  const isObject = isBucketAddress(input);
  const file = isObject ? lastName(input) : input;
  const lines = commands.map((command) => listLine(file, command, ending)).join(' or: ');
  return `${isObject ? 'Copy the object to a local file first. ' : ''}${what}: ${lines}`;
}

function listLine(input: string, command: string, ending: string): string {
  if (input === '-') return `… | ${command} | asset-export …`;
  const name = lastName(input);
  const [stem = ''] = name.split('.');
  const list = shellWord(`${stem === '' ? 'list' : stem}.ids.${ending}`);
  const packed = /\.(gz|gzip)$/i.test(name) ? 'gzip' : /\.(zst|zstd)$/i.test(name) ? 'zstd' : undefined;
  if (packed !== undefined) return `${packed} -dc ${shellWord(input)} | ${command} > ${list}`;
  return `${command} < ${shellWord(input)} > ${list}`;
}

function lastName(input: string): string {
  return input.slice(input.lastIndexOf('/') + 1);
}
