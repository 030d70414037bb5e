import { open } from 'node:fs/promises';
import { ExportError, messageOf } from '../../lib/export-error.ts';

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
} as const;

/** True when a file that begins with `head` is of that kind. */
export function startsAs(kind: keyof typeof firstBytes, head: Uint8Array): boolean {
  return firstBytes[kind].every((byte, index) => head[index] === byte);
}
