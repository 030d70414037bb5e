/** The text of the bytes from `start` up to `end`. */
export function utf8Text(bytes: Uint8Array, start: number, end: number): string {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString('utf8', start, end);
}

/** Whether bytes hold others at a place. */
export function holdsAt(bytes: Uint8Array, at: number, others: Uint8Array): boolean {
  // From the end: texts at one place often begin alike.
  for (let index = others.length - 1; index >= 0; index -= 1) if (bytes[at + index] !== others[index]) return false;
  return true;
}

/** A `timestamp` cell as ISO 8601 text in UTC, to the microsecond: `2026-01-31T23:59:59.123000Z`. */
export function timestampText(us: number): string {
  const ms = Math.floor(us / 1000);
  const rest = String(us - ms * 1000).padStart(3, '0');
  return `${new Date(ms).toISOString().slice(0, -1)}${rest}Z`;
}

/** The microseconds of such a text. */
export function timestampOf(text: string): number {
  return Date.parse(`${text.slice(0, -4)}Z`) * 1000 + Number(text.slice(-4, -1));
}

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
