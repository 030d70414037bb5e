import type { RowBlock } from '../records/row-block.ts';
import { BufferPool } from '../../lib/buffer-pool.ts';
import { blockBytes, type ByteOutput } from './sink.ts';

/** Bytes, and the same bytes to be read in words. */
export interface Words {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** Bytes that are copied at a time, though fewer may count. */
export const strideBytes = 16;

/** Always a plain array: V8 reads one kind of array faster than arrays of two kinds. */
function wordsOfBytes({ buffer, byteOffset, byteLength }: Uint8Array): Words {
  return { bytes: new Uint8Array(buffer, byteOffset, byteLength), view: new DataView(buffer, byteOffset, byteLength) };
}

/** Texts of a format, one after another, and where each begins and the last ends. */
export interface FormatTexts {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
}

export function formatTexts(texts: readonly string[]): FormatTexts {
  const starts = new Int32Array(texts.length + 1);
  for (const [index, text] of texts.entries()) starts[index + 1] = (starts[index] ?? 0) + Buffer.byteLength(text);
  return { bytes: Buffer.from(texts.join('')), starts };
}

/** Texts that are copied often: one after another, with bytes behind the last that may be copied with it. */
export interface FixedTexts {
  readonly words: Words;
  /** Where each begins, and where the last ends. */
  readonly starts: Int32Array;
}

export function fixedTexts(texts: readonly string[]): FixedTexts {
  const { bytes, starts } = formatTexts(texts);
  return { words: wordsOfBytes(Buffer.concat([bytes, Buffer.alloc(strideBytes)])), starts };
}

/** Bytes of a timestamp's text: microseconds that are a safe integer lie in years of four digits. */
export const timestampBytes = 27;

/** Where the text of a block's cells lies, by the number of the cell. */
export class BlockText {
  readonly rows: number;
  readonly width: number;
  readonly marks: Uint8Array;
  /** Bytes of each cell's text; -1 for null. */
  readonly length: Int32Array;
  readonly #from: Int32Array;
  readonly #source: Words;
  readonly #made: Words;

  constructor(block: RowBlock, width: number) {
    requireCells(block, width);
    this.rows = block.rows;
    this.width = width;
    this.marks = block.marks;
    this.length = block.length;
    this.#from = block.from;
    this.#source = wordsOfBytes(block.source);
    this.#made = wordsOfBytes(block.made);
  }

  /** The bytes that hold a cell's text. */
  words(cell: number): Words {
    return (this.#from[cell] ?? 0) < 0 ? this.#made : this.#source;
  }

  /** Where a cell's text begins in them. */
  start(cell: number): number {
    const from = this.#from[cell] ?? 0;
    return from < 0 ? ~from : from;
  }

  /** Bytes of a row's text, or a few more. */
  rowBytes(row: number): number {
    const { length, width } = this;
    // Nulls count as -1: looking for them would take longer.
    let bytes = width;
    for (let cell = row * width, end = cell + width; cell < end; cell += 1) bytes += length[cell] ?? 0;
    return bytes;
  }
}

/** @throws {Error} when a block is of another table, which is a bug of the caller */
export function requireCells({ width }: RowBlock, columns: number): void {
  if (width !== columns) throw new Error(`a row has ${width} cells, and the table ${columns} columns`);
}

/** From here on a call into native code is faster than a loop. */
const longBytes = 256;

/** Where memory comes from, and goes back to. */
interface Memory {
  /** At least so many bytes; what they hold is not defined. */
  take(bytes: number): Uint8Array;
  give(bytes: Uint8Array): void;
}

const ownMemory: Memory = { take: (bytes) => Buffer.allocUnsafeSlow(bytes), give: () => undefined };

const noBytes = wordsOfBytes(new Uint8Array(0));

/** Bytes one after another. Whoever adds some reserves room before, for many cells at once, so that no cell has to ask for it. */
export class GrowingBytes {
  #bytes = noBytes.bytes;
  #view = noBytes.view;
  #used = 0;

  readonly #keptBytes: number;
  readonly #memory: Memory;

  /** @param keptBytes most memory that `clear` keeps */
  constructor(keptBytes: number, memory: Memory = ownMemory) {
    this.#keptBytes = keptBytes;
    this.#memory = memory;
  }

  get used(): number {
    return this.#used;
  }

  /** The bytes so far, not copied. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#used);
  }

  /** Begins again, in the same memory unless that is more than it keeps. */
  clear(): void {
    this.#used = 0;
    if (this.#bytes.length > this.#keptBytes) this.#memory.give(this.handOver(0));
  }

  /** Makes room for so many bytes. */
  reserve(bytes: number): void {
    const needed = this.#used + bytes + strideBytes;
    if (needed <= this.#bytes.length) return;
    const before = this.bytes;
    this.#goOn(this.#memory.take(Math.max(needed, this.#bytes.length * 2)), before);
    this.#memory.give(before);
  }

  byte(byte: number): void {
    this.#bytes[this.#used] = byte;
    this.#used += 1;
  }

  /** Adds bytes that lie anywhere. */
  add(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  /** Has a byte that was added before be another. */
  put(at: number, byte: number): void {
    this.#bytes[at] = byte;
  }

  /** Adds one of some texts. */
  fixed({ words, starts }: FixedTexts, index: number): void {
    const start = starts[index] ?? 0;
    this.copy(words, start, (starts[index + 1] ?? 0) - start);
  }

  /** Adds bytes as they are: sixteen at a time, though fewer count, where as many can be read. */
  copy({ bytes, view: source }: Words, start: number, length: number): void {
    if (length >= longBytes || start + length + strideBytes > bytes.length) {
      this.add(bytes.subarray(start, start + length));
      return;
    }
    const to = this.#used;
    const target = this.#view;
    this.#used = to + length;
    for (let at = 0; at < length; at += strideBytes) {
      target.setInt32(to + at, source.getInt32(start + at, true), true);
      target.setInt32(to + at + 4, source.getInt32(start + at + 4, true), true);
      target.setInt32(to + at + 8, source.getInt32(start + at + 8, true), true);
      target.setInt32(to + at + 12, source.getInt32(start + at + 12, true), true);
    }
  }

  /** Gives away the memory with so many of the first bytes; the others go on in new memory. */
  protected handOver(length: number): Uint8Array {
    const all = this.bytes;
    const rest = all.subarray(length);
    this.#goOn(rest.length === 0 ? noBytes.bytes : this.#memory.take(rest.length + strideBytes), rest);
    return all.subarray(0, length);
  }

  #goOn(memory: Uint8Array, bytes: Uint8Array): void {
    memory.set(bytes);
    ({ bytes: this.#bytes, view: this.#view } = wordsOfBytes(memory));
    this.#used = bytes.length;
  }
}

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
