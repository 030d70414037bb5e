import { crc32, deflateRawSync, inflateRawSync, createGzip } from 'node:zlib';
import { ExportError } from '../../lib/export-error.ts';
import type { ReadableFile } from '../files/disk.ts';
import { once } from 'node:events';
import type { PartCodec } from '../../core/formats/sink.ts';
import { loadXxhash } from '../../lib/decompress.ts';

/**
 * A file that is compressed and can be read at any place: gzip members of `packedBlockBytes` each, the last one shorter. The
 * header of a member says how long the member is (RFC 1952, 2.3.1.1), so that its place is known without unpacking it.
 */
export const packedBlockBytes = 65_536;

/** The fastest level: what is packed is read back once. */
const level = 1;

/** Magic number, deflate, FEXTRA, no time, no flags, unknown system; 8 bytes of extra fields: `AE`, 4 bytes. */
const headStart = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 8, 0, 0x41, 0x45, 4, 0]);
const headBytes = headStart.length + 4;
const tailBytes = 8;

/** Packs bytes as they come: all but the last have to be a multiple of `packedBlockBytes`. */
export function packBlocks(bytes: Uint8Array): Uint8Array {
  const members: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += packedBlockBytes) {
    const block = bytes.subarray(start, start + packedBlockBytes);
    const packed = deflateRawSync(block, { level });
    const head = Buffer.alloc(headBytes);
    headStart.copy(head);
    head.writeUInt32LE(headBytes + packed.length + tailBytes, headStart.length);
    const tail = Buffer.alloc(tailBytes);
    tail.writeUInt32LE(crc32(block), 0);
    tail.writeUInt32LE(block.length, 4);
    members.push(head, packed, tail);
  }
  return Buffer.concat(members);
}

/** What is read of a file at a time, in bytes: a block that does not compress is smaller. */
const windowBytes = 1 << 20;

/** The blocks of such a file. */
export class PackedBlocks {
  readonly #file: ReadableFile;
  /** Where each member begins, and at the end where the last one ends. */
  readonly #starts: number[] = [0];

  constructor(file: ReadableFile) {
    this.#file = file;
  }

  /** All blocks in order: it has to be read to its end before `block` finds them. @throws {ExportError} `damaged` */
  async *all(): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      const begin = this.#starts.at(-1) ?? 0;
      const window = Buffer.from(await this.#file.read(begin, windowBytes));
      if (window.length === 0) return;
      let from = 0;
      for (let length = memberLength(window, from); length !== undefined; length = memberLength(window, from)) {
        yield unpack(window.subarray(from, from + length));
        from += length;
        this.#starts.push(begin + from);
      }
      if (from === 0) throw damaged();
    }
  }

  async block(index: number): Promise<Uint8Array> {
    const start = this.#starts[index] ?? 0;
    return unpack(Buffer.from(await this.#file.read(start, (this.#starts[index + 1] ?? start) - start)));
  }
}

/** The length of a member that begins there; undefined where it is not whole. */
function memberLength(window: Buffer, from: number): number | undefined {
  if (from + headBytes > window.length) return undefined;
  if (headStart.compare(window, from, from + headStart.length) !== 0) throw damaged();
  const length = window.readUInt32LE(from + headStart.length);
  return from + length > window.length ? undefined : length;
}

function unpack(member: Buffer): Uint8Array {
  try {
    const block = inflateRawSync(member.subarray(headBytes, member.length - tailBytes), {
      maxOutputLength: packedBlockBytes,
    });
    if (crc32(block) === member.readUInt32LE(member.length - tailBytes)) return block;
  } catch {
    // Its bytes are not those that were written.
  }
  throw damaged();
}

function damaged(): ExportError {
  return new ExportError('damaged', 'the records that were requested for this export are damaged', {
    todo: 'Start over with --fresh.',
  });
}

/** Compresses a file as it is written. Given the same pushes it gives the same bytes. */
interface Codec {
  push(bytes: Uint8Array): Promise<Uint8Array>;
  end(): Promise<Uint8Array>;
}

/** The codec around a whole file; `snappy` exists only inside Parquet. */
export async function openCodec(compression: PartCodec): Promise<Codec> {
  if (compression === 'gzip') return gzipCodec();
  if (compression === 'zstd') return zstdCodec();
  if (compression === 'blocks') return blocksCodec;
  return plainCodec;
}

const nothing = new Uint8Array(0);

const plainCodec: Codec = { push: async (bytes) => bytes, end: async () => nothing };

/** Raw files are cut in multiples of its blocks, and can be read at any place; ids are read from their beginning. */
const blocksCodec: Codec = { push: async (bytes) => packBlocks(bytes), end: async () => nothing };

/** One gzip member, whose header holds no time. */
function gzipCodec(): Codec {
  const gzip = createGzip({ level: 6 });
  const out: Buffer[] = [];
  gzip.on('data', (bytes: Buffer) => out.push(bytes));
  return {
    push: async (bytes) => {
      await new Promise<void>((resolve, reject) => {
        gzip.write(bytes, (error) => {
          if (error) reject(error);
          else resolve();
        });
      });
      return Buffer.concat(out.splice(0));
    },
    end: async () => {
      const ended = once(gzip, 'end');
      gzip.end();
      await ended;
      return Buffer.concat(out.splice(0));
    },
  };
}

/** A frame a push: frames in a row are one valid file, and need no state that files would have to share. */
async function zstdCodec(): Promise<Codec> {
  const [{ Zstd }, hasher] = await Promise.all([import('@hpcc-js/wasm-zstd'), loadXxhash()]);
  const zstd = await Zstd.load();
  // The library sets no checksum: the flag of RFC 8878, section 3.1.1.1.1, and the low 32 bits of the hash behind the frame.
  const frameOf = (bytes: Uint8Array): Uint8Array => {
    const frame = zstd.compress(bytes, 3);
    const checked = Buffer.concat([frame, new Uint8Array(4)]);
    checked.writeUInt8((frame[4] ?? 0) | 4, 4);
    checked.writeUInt32LE(Number(BigInt.asUintN(32, hasher.h64Raw(bytes))), frame.length);
    return checked;
  };
  let empty = true;
  return {
    push: async (bytes) => {
      empty = false;
      return frameOf(bytes);
    },
    end: async () => (empty ? frameOf(nothing) : nothing),
  };
}
