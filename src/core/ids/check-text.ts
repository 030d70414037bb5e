import { startsAs, type IdInput } from './id-input.ts';
import { ExportError } from '../../lib/export-error.ts';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { shellWord } from '../../lib/addresses/shown-text.ts';

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
