import { asBuffer, type ByteScanner, type ByteSpan, carryBytes } from '../lib/scan/split-lines.ts';
import { closeBrace, lineFeed, openBrace } from '../lib/ascii.ts';

/** A first line beyond it is not parsed, as any other. */
const longestFirstLine = 1 << 26;

/**
 * Counts lines that are JSON objects by their ends, and parses few of them: the first, and the first that lies whole in each
 * piece. JSON has no line feed within a value's text, so the count is exact; what is wrong within a line that is not parsed,
 * and was so when it was written, is not seen. What was changed since is seen by the hash of the file.
 */
export class JsonLineCounter implements ByteScanner {
  rows = 0;
  /** Of the first row. */
  keys: readonly string[] | undefined;
  readonly #carry = carryBytes(longestFirstLine);
  #last = lineFeed;

  /** @throws {Error} at a line that is no object */
  push(pushed: Uint8Array): void {
    const bytes = asBuffer(pushed);
    if (bytes.length === 0) return;
    let isParsed = false;
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, start)) {
      const isWhole = start > 0 || this.#last === lineFeed;
      if (isWhole && bytes[start] !== openBrace) throw this.#fault();
      if ((end > 0 ? bytes[end - 1] : this.#last) !== closeBrace) throw this.#fault();
      if (this.rows === 0) this.#parseFirst(bytes, end);
      else if (isWhole && !isParsed) {
        this.#parse(bytes.toString('utf8', start, end));
        isParsed = true;
      }
      this.rows += 1;
      start = end + 1;
      this.#last = lineFeed;
    }
    if (start === bytes.length) return;
    if (this.#last === lineFeed && bytes[start] !== openBrace) throw this.#fault();
    if (this.rows === 0) this.#carry.add(bytes, start, bytes.length);
    this.#last = bytes[bytes.length - 1] ?? 0;
  }

  /** @throws {Error} when the last line has no end: every line of ours does */
  end(): void {
    if (this.#last !== lineFeed) throw new Error('the last line is truncated');
  }

  #parseFirst(bytes: Buffer, end: number): void {
    const span: ByteSpan = { bytes, start: 0, end: 0, line: 1, cut: false };
    this.#carry.add(bytes, 0, end);
    this.#carry.moveTo(span);
    if (!span.cut) this.keys = Object.keys(this.#parse(span.bytes.toString()));
  }

  #parse(line: string): object {
    try {
      const row: unknown = JSON.parse(line);
      // Braces at both ends make it an object, or no JSON.
      if (typeof row === 'object' && row !== null) return row;
    } catch (error) {
      throw this.#fault(error);
    }
    throw this.#fault();
  }

  #fault(cause?: unknown): Error {
    return new Error(`line ${this.rows + 1} is not a JSON object`, { cause });
  }
}
