import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { BufferPool } from '../lib/buffer-pool.ts';

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
  /** Where memory for a body in several pieces comes from. */
  readonly pool: BufferPool;
}

const gunzipAtOnce = promisify(gunzip);

/**
 * Reads a whole body and decodes it; never holds more than `maxBytes` of it, whatever a gzip bomb claims to be.
 * @throws {BodyTooLong | BodyUndecodable}, or what the chunks throw.
 */
export async function readBody(chunks: AsyncIterable<Uint8Array>, limits: BodyLimits): Promise<Uint8Array> {
  const { maxBytes } = limits;
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of chunks) {
    length += piece.length;
    if (length > maxBytes) throw new BodyTooLong(maxBytes);
    pieces.push(piece);
  }
  const encoded = joined(pieces, length, limits.pool);
  const encoding = limits.encoding?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return encoded;
  if (encoding !== 'gzip' && encoding !== 'x-gzip') throw new BodyUndecodable('an encoding that was not asked for');
  try {
    return await gunzipAtOnce(encoded, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) throw new BodyTooLong(maxBytes);
    throw new BodyUndecodable('gzip that is cut or damaged', { cause: error });
  } finally {
    limits.pool.give(encoded);
  }
}

function joined(pieces: readonly Uint8Array[], length: number, pool: BufferPool): Uint8Array {
  const [only] = pieces;
  if (only !== undefined && pieces.length === 1) return only;
  const whole = pool.take(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
