import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { XXHashAPI } from 'xxhash-wasm';

/** Bytes in each piece of what comes out; fewer, larger pieces cost less per byte. */
const pieceBytes = 262_144;

/** What a whole file is compressed with. */
export type FileCodec = 'none' | 'gzip' | 'zstd';

/** The codec of a file by the ending of its name. */
export function codecOf(path: string): FileCodec {
  if (path.endsWith('.gz')) return 'gzip';
  return path.endsWith('.zst') ? 'zstd' : 'none';
}

/**
 * Decompresses a stream of any number of members or frames, holding no more than the codec's window. A piece
 * of the stream is copied when it is taken, so its buffer may be filled again.
 * @throws when the bytes are damaged or end too early, and when the checksum of a member or a frame differs.
 */
export function decompress(bytes: AsyncIterable<Uint8Array>, codec: FileCodec): AsyncIterable<Uint8Array> {
  return codec === 'gzip' ? gunzip(bytes) : codec === 'zstd' ? unzstd(bytes) : bytes;
}

async function* gunzip(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let givenBytes = 0;
  let lastByte = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      givenBytes += piece.length;
      lastByte = piece.at(-1) ?? lastByte;
      yield Uint8Array.from(piece);
    }
  };
  const inflate = createGunzip({ chunkSize: pieceBytes });
  const done = pipeline(Readable.from(counted(), { objectMode: true }), inflate);
  // The failure is met below, where the pieces are read; without this a reader that stops early would leave it unseen.
  done.catch(() => undefined);
  try {
    yield* inflate as AsyncIterable<Uint8Array>;
    await done;
  } catch (error) {
    // zlib calls an empty file cut short; an empty file of ids is simply one without ids.
    if (givenBytes > 0) throw error;
  }
  // zlib leaves out what follows the last member without a word. Zeros there are padding, anything else is lost data.
  if (inflate.bytesWritten < givenBytes && lastByte !== 0) throw new Error('the gzip data is followed by other bytes');
}

// Streaming zstd for Node 20: 50 to 80 MB/s here, five times the wasm build's. Node's own (22.15) ends without an error where a second
// frame is cut short.
async function* unzstd(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const [{ Decompress }, hasher] = await Promise.all([import('fzstd'), loadXxhash()]);
  let pieces: Uint8Array[] = [];
  const nextFrame = () => ({
    inflate: new Decompress((piece) => pieces.push(piece)),
    hash: hasher.create64(),
    isOpen: false,
  });
  let frame = nextFrame();
  const out = (): Uint8Array[] => {
    const done = pieces;
    pieces = [];
    for (const piece of done) frame.hash.update(piece);
    return done;
  };
  const frames = zstdFrames();
  frames.next();
  for await (const piece of bytes) {
    if (piece.length === 0) continue;
    const own = Uint8Array.from(piece);
    let from = 0;
    for (const { end, checksum } of frames.next(own).value) {
      frame.inflate.push(own.subarray(from, end), true);
      yield* out();
      if (checksum !== undefined && Number(BigInt.asUintN(32, frame.hash.digest())) !== checksum)
        throw new Error('the checksum of the zstd data differs');
      frame = nextFrame();
      from = end;
    }
    if (from === own.length) continue;
    frame.isOpen = true;
    frame.inflate.push(own.subarray(from), false);
    yield* out();
  }
  if (!frame.isOpen) return;
  frame.inflate.push(new Uint8Array(0), true);
  yield* out();
}

let loadingXxhash: Promise<XXHashAPI> | undefined;

/** The hash of zstd's frames, compiled once. */
export function loadXxhash(): Promise<XXHashAPI> {
  return (loadingXxhash ??= import('xxhash-wasm').then(({ default: load }) => load()));
}

interface FrameEnd {
  /** Bytes of the piece that belong to the frame. */
  readonly end: number;
  /** The low 32 bits of the XXH64 of its content, where it has them. */
  readonly checksum: number | undefined;
}

/**
 * Finds where the frames of a zstd file end. It is given piece after piece, and gives the ends in each; what is no frame has none.
 * See RFC 8878, section 3.1.
 */
function* zstdFrames(): Generator<FrameEnd[], never, Uint8Array> {
  let piece: Uint8Array = new Uint8Array(0);
  let at = 0;
  let ends: FrameEnd[] = [];
  const more = function* (): Generator<FrameEnd[], void, Uint8Array> {
    piece = yield ends;
    at = 0;
    ends = [];
  };
  /** A little-endian number of at most six bytes. */
  const number = function* (bytes: number): Generator<FrameEnd[], number, Uint8Array> {
    let value = 0;
    for (let index = 0; index < bytes; index += 1) {
      while (at === piece.length) yield* more();
      value += (piece[at] ?? 0) * 256 ** index;
      at += 1;
    }
    return value;
  };
  const skip = function* (bytes: number): Generator<FrameEnd[], void, Uint8Array> {
    for (let left = bytes; left > 0; ) {
      if (at === piece.length) yield* more();
      const taken = Math.min(left, piece.length - at);
      at += taken;
      left -= taken;
    }
  };
  for (;;) {
    const magic = yield* number(4);
    if (Math.floor(magic / 16) === 0x184d2a5) {
      yield* skip(yield* number(4));
      ends.push({ end: at, checksum: undefined });
      continue;
    }
    if (magic !== 0xfd2fb528) yield* skip(Number.POSITIVE_INFINITY);
    const descriptor = yield* number(1);
    const isSingle = (descriptor & 32) !== 0;
    const contentBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
    yield* skip(Number(!isSingle) + ([0, 1, 2, 4][descriptor & 3] ?? 0) + contentBytes);
    for (let isLast = false; !isLast; ) {
      const block = yield* number(3);
      isLast = (block & 1) === 1;
      const isRepeated = ((block >> 1) & 3) === 1;
      yield* skip(isRepeated ? 1 : block >> 3);
    }
    const checksum = (descriptor & 4) === 0 ? undefined : yield* number(4);
    ends.push({ end: at, checksum });
  }
}
