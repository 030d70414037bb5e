import { once } from 'node:events';
import { createGzip } from 'node:zlib';
import type { PartCodec } from '../../core/formats/sink.ts';
import { loadXxhash } from '../../lib/decompress.ts';
import { packBlocks } from '../scratch/packed-blocks.ts';

/** Compresses a file as it is written. Given the same pushes it gives the same bytes. */
export interface Codec {
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
