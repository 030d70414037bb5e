import { BufferPool } from '../lib/buffer-pool.ts';
import { GrowingBytes, type Memory } from './growing-bytes.ts';
import { blockBytes, type ByteOutput } from './sink.ts';

/** How many bytes an output takes at once, and where they lie. */
interface BlockSize {
  readonly bytes: number;
  readonly memory: Memory;
}

/** Memory for `blocks` at once, and room behind them for the row that crosses their end; nothing is taken of what no row reaches. */
function blocksAtOnce(blocks: number): BlockSize {
  const bytes = blocks * blockBytes;
  const memoryBytes = bytes + blockBytes;
  /** It serves one file after another: when it is fresh, it costs more than what is done with it. */
  const pool = new BufferPool(32 * blockBytes);
  // It begins at a page, so that a disk takes a block as it lies; what a wider row needs is ordinary memory, and not kept.
  const take = (needed: number): Uint8Array =>
    needed > memoryBytes ? Buffer.allocUnsafeSlow(needed) : pool.take(memoryBytes);
  return {
    bytes,
    memory: {
      take,
      give: (given) => {
        pool.give(given);
      },
    },
  };
}

const oneBlock = blocksAtOnce(1);

/** A trip to the disk costs about as much as a block on it, which counts where a row is little work but for its bytes. */
export const fourBlocks = blocksAtOnce(4);

/** The bytes of a file on their way to an output, which takes each block where it lies while the next is filled. */
export class ByteBlocks extends GrowingBytes {
  readonly #output: ByteOutput;
  readonly #size: BlockSize;
  /** What became of the blocks before, or will. */
  #taken: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(output: ByteOutput, size = oneBlock) {
    super(0, size.memory);
    this.#output = output;
    this.#size = size;
  }

  /** True when it is time to `flush`: also when the output has failed, as much may be paid for until the next block is full. */
  get isFull(): boolean {
    return this.used >= this.#size.bytes || this.#hasFailed;
  }

  /** Gives the blocks that are full to the output. @throws what the output threw at one before */
  async flush(): Promise<void> {
    const { bytes } = this.#size;
    const length = this.used - (this.used % bytes);
    await this.#give(length);
    // Wide rows are not held twice.
    if (length > bytes) await this.#taken;
  }

  /** Adds bytes that lie elsewhere, however many, and flushes. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length; ) {
      const piece = bytes.subarray(start, start + this.#size.bytes - this.used);
      this.reserve(piece.length);
      this.add(piece);
      start += piece.length;
      if (this.isFull) await this.flush();
    }
  }

  /** Gives all that is left to the output, and resolves when it has taken everything. */
  async end(): Promise<void> {
    await this.#give(this.used);
    await this.#taken;
  }

  /** Gives so many of the bytes away, after those before. */
  async #give(length: number): Promise<void> {
    await this.#taken;
    if (length === 0) return;
    this.#taken = this.#pass(this.handOver(length));
    this.#taken.catch(() => {
      this.#hasFailed = true;
    });
  }

  async #pass(bytes: Uint8Array): Promise<void> {
    const { bytes: most, memory } = this.#size;
    for (let start = 0; start < bytes.length; start += most) {
      await this.#output.write(bytes.subarray(start, start + most));
    }
    memory.give(bytes);
  }
}
