import { open } from 'node:fs/promises';
import { ExportError, messageOf } from '../../../lib/export-error.ts';

export type IdFormat = 'lines' | 'csv' | 'json' | 'jsonl' | 'parquet';
export type InputCompression = 'none' | 'gzip' | 'zstd';

export interface SeenFormat {
  readonly format: IdFormat;
  readonly compression: InputCompression;
}

/** How much is looked at, in bytes: enough to pass over blank lines before the first value. */
const lookBytes = 512;

/** What a file is by its first bytes: for stdin, which has no name with an ending. CSV looks like lines here. */
export async function lookAtFile(path: string): Promise<SeenFormat> {
  const head = await headOf(path);
  if (startsAs('gzip', head)) return { format: 'lines', compression: 'gzip' };
  if (startsAs('zstd', head)) return { format: 'lines', compression: 'zstd' };
  if (startsAs('parquet', head)) return { format: 'parquet', compression: 'none' };
  // The byte order mark of UTF-8, as it looks in Latin-1, may stand before the first value.
  const first = head
    .toString('latin1')
    .replace(/^\u00EF\u00BB\u00BF/, '')
    .trimStart()
    .charAt(0);
  return { format: first === '[' ? 'json' : first === '{' ? 'jsonl' : 'lines', compression: 'none' };
}

async function headOf(path: string): Promise<Buffer> {
  try {
    const file = await open(path, 'r');
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(lookBytes), 0, lookBytes, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new ExportError('input', `cannot read ids from stdin: ${messageOf(error)}`, { cause: error });
  }
}

/** What files that are no text begin with. */
const firstBytes = {
  gzip: [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
  parquet: [0x50, 0x41, 0x52, 0x31],
  zip: [0x50, 0x4b, 0x03, 0x04],
  // A list may begin with an id that begins with BZh: the mark of the first block behind the level decides.
  bzip2: [0x42, 0x5a, 0x68, undefined, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59],
  xz: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00],
  lz4: [0x04, 0x22, 0x4d, 0x18],
  sevenZip: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c],
  pdf: [...Buffer.from('%PDF-')],
  sqlite: [...Buffer.from('SQLite format 3\0')],
  ole: [0xd0, 0xcf, 0x11, 0xe0],
  arrow: [...Buffer.from('ARROW1\0')],
  avro: [...Buffer.from('Obj\u0001')],
} satisfies Readonly<Record<string, readonly (number | undefined)[]>>;

/** True when a file that begins with `head` is of that kind. */
export function startsAs(kind: keyof typeof firstBytes, head: Uint8Array): boolean {
  const bytes: readonly (number | undefined)[] = firstBytes[kind];
  return bytes.every((byte, index) => byte === undefined || head[index] === byte);
}
