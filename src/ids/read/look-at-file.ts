import { open } from 'node:fs/promises';
import { ExportError, messageOf } from '../../lib/export-error.ts';
import { startsAs } from './first-bytes.ts';
import type { IdFormat, InputCompression } from './id-format.ts';

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
