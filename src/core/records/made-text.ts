/** Texts that no answer holds, one after another: those of cells whose `from` is below zero. */
export class MadeText {
  #bytes: Buffer;
  /** Bytes so far. */
  end: number;
  readonly #constantBytes: number;

  /** @param constants texts that many cells hold: it begins with them */
  constructor(constants: Uint8Array = new Uint8Array(0)) {
    this.#bytes = Buffer.from(constants);
    this.end = constants.length;
    this.#constantBytes = constants.length;
  }

  /** All of them, and free room behind. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Adds a text in UTF-8 and gives its bytes. Its lone surrogates become U+FFFD. */
  addText(text: string): number {
    this.#reserve(text.length * 3);
    const length = this.#bytes.write(text, this.end);
    this.end += length;
    return length;
  }

  addBytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.end);
    this.end += bytes.length;
  }

  /** Keeps the constants alone. */
  clear(): void {
    this.end = this.#constantBytes;
  }

  #reserve(bytes: number): void {
    const needed = this.end + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2, 1024));
    this.#bytes.copy(larger, 0, 0, this.end);
    this.#bytes = larger;
  }
}
