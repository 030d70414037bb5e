import { BufferPool } from '../../lib/buffer-pool.ts';
import { GrowingBytes, type Memory } from './growing-bytes.ts';
import { blockBytes, type ByteOutput } from './sink.ts';

/**
 * Memory for blocks of one size. It serves one file after another: when it is fresh, it costs more than what is done with it.
 * What a wider row needs is not kept.
 */
export class BlockMemory implements Memory {
  readonly blockBytes: number;
  readonly #bytes: number;
  readonly #pool: BufferPool;

  /**
   * @param roomBytes room behind a block for the row that crosses its end; nothing is taken of what no row reaches
   * @param files how many files are written at once, each with a block on its way to the disk while the next is filled
   */
  constructor({ blockBytes, roomBytes, files }: { blockBytes: number; roomBytes: number; files: number }) {
    this.blockBytes = blockBytes;
    this.#bytes = blockBytes + roomBytes;
    this.#pool = new BufferPool(2 * files * this.#bytes);
  }

  take(bytes: number): Uint8Array {
    return bytes > this.#bytes ? Buffer.allocUnsafeSlow(bytes) : this.#pool.take(this.#bytes);
  }

  give(bytes: Uint8Array): void {
    this.#pool.give(bytes);
  }
}

const ordinary = new BlockMemory({ blockBytes, roomBytes: blockBytes, files: 8 });

/** The bytes of a file on their way to an output, which takes each block where it lies while the next is filled. */
export class ByteBlocks extends GrowingBytes {
  readonly #output: ByteOutput;
  readonly #memory: BlockMemory;
  readonly #blockBytes: number;
  /** What became of the blocks before, or will. */
  #taken: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(output: ByteOutput, memory: BlockMemory = ordinary) {
    super(0, memory);
    this.#output = output;
    this.#memory = memory;
    this.#blockBytes = memory.blockBytes;
  }

  /** Bytes that are missing to a full block. */
  get room(): number {
    return Math.max(0, this.#blockBytes - this.used);
  }

  /** True when it is time to `flush`: also when the output has failed, as much may be paid for until the next block is full. */
  get isFull(): boolean {
    return this.used >= this.#blockBytes || this.#hasFailed;
  }

  /** Gives the blocks that are full to the output. @throws what the output threw at one before */
  async flush(): Promise<void> {
    const length = this.used - (this.used % this.#blockBytes);
    await this.#give(length);
    // Wide rows are not held twice.
    if (length > this.#blockBytes) await this.#taken;
  }

  /** Adds bytes that lie elsewhere, however many, and flushes. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length; ) {
      const piece = bytes.subarray(start, start + this.#blockBytes - this.used);
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
    for (let start = 0; start < bytes.length; start += this.#blockBytes) {
      await this.#output.write(bytes.subarray(start, start + this.#blockBytes));
    }
    this.#memory.give(bytes);
  }
}
