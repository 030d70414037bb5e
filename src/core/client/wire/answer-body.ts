import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import type { BufferPool } from '../../../lib/buffer-pool.ts';

/** The body is longer than the caller is willing to hold, before or after decoding. */
export class BodyTooLong extends Error {
  constructor(maxBytes: number) {
    super(`an answer of more than ${maxBytes} bytes`);
    this.name = 'BodyTooLong';
  }
}

/** The body cannot be decoded: a content coding that is not known, or data that is cut or damaged. */
export class BodyUndecodable extends Error {}

export interface BodyLimits {
  /** Most bytes to hold, of the encoded and of the decoded body. */
  readonly maxBytes: number;
  /** The `content-encoding` header. */
  readonly encoding?: string | undefined;
  /** The `content-length` header: how many bytes to expect. */
  readonly length?: number | undefined;
  /** Where memory for the body comes from. */
  readonly pool: BufferPool;
}

/** Initial memory without a Content-Length: less than most answers need. */
const usualBytes = 256 * 1024;

const none = Buffer.alloc(0);

/**
 * The body of an answer, piece by piece as it arrives; never holds more than `maxBytes` of it, encoded or decoded, whatever a gzip
 * bomb claims to be. Its memory goes back to the pool by `end` where it is decoded, and by `drop`.
 */
export class AnswerBody {
  readonly #limits: BodyLimits;
  /** Taken for the first piece: until then a body that waits holds no memory. */
  #whole: Buffer = none;
  #length = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** With a Content-Length each piece is copied to its place at once and need not be kept. @throws {BodyTooLong} */
  add(piece: Uint8Array): void {
    const { length = 0, maxBytes, pool } = this.#limits;
    const end = this.#length + piece.length;
    if (end > maxBytes) throw new BodyTooLong(maxBytes);
    if (end > this.#whole.length) {
      const usual = this.#whole === none ? (length > 0 ? length : usualBytes) : this.#whole.length * 2;
      const larger = pool.take(Math.min(Math.max(end, usual), maxBytes));
      larger.set(this.#whole.subarray(0, this.#length));
      pool.give(this.#whole);
      this.#whole = larger;
    }
    this.#whole.set(piece, this.#length);
    this.#length = end;
  }

  /** The whole body, decoded. @throws {BodyTooLong | BodyUndecodable} */
  async end(): Promise<Uint8Array> {
    const encoded = this.#whole.subarray(0, this.#length);
    const codings = codingsOf(this.#limits.encoding, encoded);
    if (codings.length === 0) return encoded;
    try {
      let body: Uint8Array = encoded;
      // The last one was applied last.
      for (const coding of codings.reverse()) body = await decoded(body, coding, this.#limits.maxBytes);
      return body;
    } finally {
      this.drop();
    }
  }

  drop(): void {
    this.#limits.pool.give(this.#whole);
  }
}

/** What a body is encoded with. Some proxies compress what they say themselves, and do not say so. */
function codingsOf(header: string | undefined, body: Uint8Array): string[] {
  const named = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (named.length > 0) return named;
  // The magic bytes of gzip; no JSON begins with them.
  return body[0] === 0x1f && body[1] === 0x8b ? ['gzip'] : [];
}

type Decode = (bytes: Uint8Array, limit: { readonly maxOutputLength: number }) => Promise<Uint8Array>;

const gunzipped: Decode = promisify(gunzip);
const inflated: Decode = promisify(inflate);
const inflatedRaw: Decode = promisify(inflateRaw);

/** Only gzip is requested, but some servers send what they like. `deflate` is zlib, and from some servers the bare deflate. */
const decoders: Readonly<Record<string, Decode>> = {
  gzip: gunzipped,
  'x-gzip': gunzipped,
  br: promisify(brotliDecompress),
  deflate: (bytes, limit) => (isZlib(bytes) ? inflated : inflatedRaw)(bytes, limit),
};

async function decoded(bytes: Uint8Array, coding: string, maxBytes: number): Promise<Uint8Array> {
  const decode = decoders[coding];
  if (decode === undefined) throw new BodyUndecodable(`the content coding "${coding}", which was not requested`);
  try {
    return await decode(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) throw new BodyTooLong(maxBytes);
    throw new BodyUndecodable(`truncated or damaged ${coding} data`, { cause: error });
  }
}

/** Whether the bytes begin with a header of zlib (RFC 1950, 2.2). */
function isZlib([cmf = 0, flags = 0]: Uint8Array): boolean {
  return (cmf & 0x0f) === 8 && (cmf * 256 + flags) % 31 === 0;
}
