import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { BufferPool } from '../../lib/buffer-pool.ts';

/** The body is longer than the caller is willing to hold, before or after decoding. */
export class BodyTooLong extends Error {
  constructor(maxBytes: number) {
    super(`an answer of more than ${maxBytes} bytes`);
    this.name = 'BodyTooLong';
  }
}

/** The body cannot be decoded: an encoding that was not asked for, or gzip that is cut or damaged. */
export class BodyUndecodable extends Error {}

export interface BodyLimits {
  /** Most bytes to hold, of the encoded and of the decoded body. */
  readonly maxBytes: number;
  /** The `content-encoding` header. */
  readonly encoding: string | undefined;
  /** The `content-length` header: how many bytes to expect. */
  readonly length?: number | undefined;
  /** Where memory for the body comes from. */
  readonly pool: BufferPool;
}

/** Initial memory without a Content-Length: less than most answers need. */
const usualBytes = 256 * 1024;

const gunzipAtOnce = promisify(gunzip);

/**
 * Reads a whole body and decodes it; never holds more than `maxBytes` of it, whatever a gzip bomb claims to be.
 * @throws {BodyTooLong | BodyUndecodable}, or what the chunks throw.
 */
export async function readBody(chunks: AsyncIterable<Uint8Array>, limits: BodyLimits): Promise<Uint8Array> {
  const { maxBytes, pool } = limits;
  const encoded = await gathered(chunks, limits);
  const encoding = limits.encoding?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return encoded;
  if (encoding !== 'gzip' && encoding !== 'x-gzip') throw new BodyUndecodable('an encoding that was not requested');
  try {
    return await gunzipAtOnce(encoded, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) throw new BodyTooLong(maxBytes);
    throw new BodyUndecodable('truncated or damaged gzip data', { cause: error });
  } finally {
    pool.give(encoded);
  }
}

/** The bytes as they came: with a Content-Length each chunk is copied to its place at once and need not be kept. */
async function gathered(chunks: AsyncIterable<Uint8Array>, limits: BodyLimits): Promise<Uint8Array> {
  const { maxBytes, pool, length: told = 0 } = limits;
  let whole = pool.take(Math.min(told > 0 ? told : usualBytes, maxBytes));
  let length = 0;
  try {
    for await (const piece of chunks) {
      const end = length + piece.length;
      if (end > maxBytes) throw new BodyTooLong(maxBytes);
      if (end > whole.length) {
        const larger = pool.take(Math.min(Math.max(end, whole.length * 2), maxBytes));
        larger.set(whole.subarray(0, length));
        pool.give(whole);
        whole = larger;
      }
      whole.set(piece, length);
      length = end;
    }
  } catch (error) {
    pool.give(whole);
    throw error;
  }
  return whole.subarray(0, length);
}
