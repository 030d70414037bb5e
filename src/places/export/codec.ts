import { once } from 'node:events';
import { createGzip } from 'node:zlib';
import type { PartCodec } from '../../core/formats/sink.ts';
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
  const { Zstd } = await import('@hpcc-js/wasm-zstd');
  const zstd = await Zstd.load();
  let empty = true;
  return {
    push: async (bytes) => {
      empty = false;
      return zstd.compress(bytes, 3).slice();
    },
    end: async () => (empty ? zstd.compress(nothing, 3).slice() : nothing),
  };
}
