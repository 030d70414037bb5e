import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { ExportError } from '../../lib/export-error.ts';
import type { ReadableFile } from '../files/open-file.ts';

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
