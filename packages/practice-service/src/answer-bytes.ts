/** Thrown when an answer would pass the cap. */
export class AnswerTooBig extends Error {
  readonly capBytes: number;

  constructor(capBytes: number) {
    super(`answer passes ${capBytes} bytes`);
    this.name = 'AnswerTooBig';
    this.capBytes = capBytes;
  }
}

/** The bytes of one answer while it is put together; they grow as needed, never past the cap. */
export class AnswerBytes {
  readonly #capBytes: number;
  #buffer: Buffer;
  #length = 0;

  constructor(capBytes: number, expectedBytes: number) {
    this.#capBytes = capBytes;
    this.#buffer = Buffer.allocUnsafe(Math.min(capBytes, expectedBytes));
  }

  /** @throws {AnswerTooBig} */
  text(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#reserve(bytes);
    this.#length += this.#buffer.write(text, this.#length);
  }

  /** Copies `source[start..end)`. @throws {AnswerTooBig} */
  bytes(source: Buffer, start: number, end: number): void {
    this.#reserve(end - start);
    this.#length += source.copy(this.#buffer, this.#length, start, end);
  }

  /** What was put together; the object is not to be used afterwards. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed > this.#capBytes) throw new AnswerTooBig(this.#capBytes);
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.min(this.#capBytes, Math.max(needed, this.#buffer.length * 2)));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}
