import type { ReadableFile } from '../../../places/files/disk.ts';

/** A file that is read in blocks of one size, the last one shorter. */
export interface BlockFile {
  readonly name: string;
  readonly blockBytes: number;
  block(index: number): Promise<Uint8Array>;
}

const plainBlockBytes = 256 * 1024;

/** A file as it lies on disk. */
export function plainBlocks(name: string, open: ReadableFile): BlockFile {
  return {
    name,
    blockBytes: plainBlockBytes,
    block: (index) => open.read(index * plainBlockBytes, plainBlockBytes),
  };
}

/** Of the blocks that are kept. */
const mostBytes = 16 * 1024 * 1024;

/** Reads pieces of files at any place, through few blocks that are kept. */
export class PieceReader {
  readonly #blocks = new Map<string, Uint8Array>();

  async read(file: BlockFile, position: number, length: number): Promise<Buffer> {
    const { blockBytes } = file;
    const first = Math.floor(position / blockBytes);
    const last = Math.floor((position + length - 1) / blockBytes);
    const pieces: Uint8Array[] = [];
    for (let block = first; block <= last; block += 1) {
      const bytes = await this.#block(file, block);
      const from = Math.max(position - block * blockBytes, 0);
      pieces.push(bytes.subarray(from, position + length - block * blockBytes));
    }
    return Buffer.concat(pieces);
  }

  async #block(file: BlockFile, block: number): Promise<Uint8Array> {
    const key = `${file.name} ${block}`;
    const known = this.#blocks.get(key);
    const bytes = known ?? (await file.block(block));
    // The one that was read last goes last.
    this.#blocks.delete(key);
    this.#blocks.set(key, bytes);
    if (this.#blocks.size * file.blockBytes > mostBytes) this.#blocks.delete(this.#blocks.keys().next().value ?? '');
    return bytes;
  }
}
