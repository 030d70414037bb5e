import { type FixedTexts, strideBytes, type Words, wordsOfBytes } from './block-text.ts';

/** From here on a call into native code is faster than a loop. */
const longBytes = 256;

/** Where memory comes from, and goes back to. */
export interface Memory {
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
