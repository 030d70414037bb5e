import { createReadStream, type ReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { Decompress } from 'fzstd';

const newline = 0x0a;

/** The bytes of a file, unpacked when its name ends in `.gz` or `.zst`. */
async function* readBytes(path: string): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: 1 << 18 });
  if (path.endsWith('.zst')) yield* unpackZstd(file);
  else if (path.endsWith('.gz')) yield* pipeThrough(file);
  else yield* file as AsyncIterable<Buffer>;
}

async function* pipeThrough(file: ReadStream): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: 1 << 18 });
  file.on('error', (error) => gunzip.destroy(error));
  yield* file.pipe(gunzip) as AsyncIterable<Buffer>;
}

async function* unpackZstd(file: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const unpacked: Buffer[] = [];
  const zstd = new Decompress((bytes) => unpacked.push(Buffer.from(bytes)));
  for await (const bytes of file) {
    zstd.push(bytes);
    yield* unpacked.splice(0);
  }
  zstd.push(new Uint8Array(0), true);
  yield* unpacked.splice(0);
}

/** The lines of a file without their line ends, as many at a time as a piece of the file holds. */
export async function* readLines(path: string): AsyncGenerator<Buffer[]> {
  let rest: Buffer[] = [];
  for await (const bytes of readBytes(path)) {
    const lines: Buffer[] = [];
    let from = 0;
    for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, from)) {
      const piece = bytes.subarray(from, at);
      lines.push(withoutReturn(rest.length === 0 ? piece : Buffer.concat([...rest, piece])));
      rest = [];
      from = at + 1;
    }
    if (from < bytes.length) rest.push(bytes.subarray(from));
    yield lines;
  }
  if (rest.length > 0) yield [withoutReturn(Buffer.concat(rest))];
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === 0x0d ? line.subarray(0, -1) : line;
}
