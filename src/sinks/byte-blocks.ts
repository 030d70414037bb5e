import { BufferPool } from '../lib/buffer-pool.ts';
import { GrowingBytes, type Memory } from './growing-bytes.ts';
import { blockBytes, type ByteOutput } from './sink.ts';

/** A block, and room behind it for the row that crosses its end; nothing is taken of what no row reaches. */
const memoryBytes = 2 * blockBytes;

/** Memory serves one file after another: when it is fresh, it costs more than what is done with it. */
const pool = new BufferPool(16 * memoryBytes);

/** It begins at a page, so that a disk takes a block as it lies; what a wider row needs is ordinary memory, and not kept. */
const memory: Memory = {
  take: (bytes) => (bytes > memoryBytes ? Buffer.allocUnsafeSlow(bytes) : pool.take(memoryBytes)),
  give: (bytes) => {
    pool.give(bytes);
  },
};

/** The bytes of a file on their way to an output, which takes each block where it lies while the next is filled. */
export class ByteBlocks extends GrowingBytes {
  readonly #output: ByteOutput;
  /** What became of the blocks before, or will. */
  #taken: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(output: ByteOutput) {
    super(0, memory);
    this.#output = output;
  }

  /** True when it is time to `flush`: also when the output has failed, as much may be paid for until the next block is full. */
  get isFull(): boolean {
    return this.used >= blockBytes || this.#hasFailed;
  }

  /** Gives the blocks that are full to the output. @throws what the output threw at one before */
  async flush(): Promise<void> {
    const length = this.used - (this.used % blockBytes);
    await this.#give(length);
    // Wide rows are not held twice.
    if (length > blockBytes) await this.#taken;
  }

  /** Adds bytes that lie elsewhere, however many, and flushes. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length; ) {
      const piece = bytes.subarray(start, start + blockBytes - this.used);
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
    for (let start = 0; start < bytes.length; start += blockBytes) {
      await this.#output.write(bytes.subarray(start, start + blockBytes));
    }
    memory.give(bytes);
  }
}
