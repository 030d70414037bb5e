import type { OpenFile } from '../store/open-file.ts';

const blockBytes = 256 * 1024;
const mostBlocks = 64;

/** Reads pieces of files at any place, through few blocks that are kept. */
export class PieceReader {
  readonly #blocks = new Map<string, Uint8Array>();

  async read(
    file: { readonly name: string; readonly open: OpenFile },
    position: number,
    length: number,
  ): Promise<Buffer> {
    const first = Math.floor(position / blockBytes);
    const last = Math.floor((position + length - 1) / blockBytes);
    if (last - first > 4) return Buffer.from(await file.open.read(position, length));
    const pieces: Uint8Array[] = [];
    for (let block = first; block <= last; block += 1) {
      const bytes = await this.#block(file, block);
      const from = Math.max(position - block * blockBytes, 0);
      pieces.push(bytes.subarray(from, position + length - block * blockBytes));
    }
    return Buffer.concat(pieces);
  }

  async #block({ name, open }: { name: string; open: OpenFile }, block: number): Promise<Uint8Array> {
    const key = `${name} ${block}`;
    const known = this.#blocks.get(key);
    const bytes = known ?? (await open.read(block * blockBytes, blockBytes));
    // The one that was read last goes last.
    this.#blocks.delete(key);
    this.#blocks.set(key, bytes);
    if (this.#blocks.size > mostBlocks) this.#blocks.delete(this.#blocks.keys().next().value ?? '');
    return bytes;
  }
}
