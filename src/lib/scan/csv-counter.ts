import { asBuffer, type ByteScanner, type ByteSpan, carryBytes } from './split-lines.ts';
import { comma, lineFeed, quote } from '../ascii.ts';

/** Where the next byte stands. Numbers, since it is asked at every byte. */
const atStart = 0;
const inText = 1;
const inQuotes = 2;
const behindQuotes = 3;

/** No header of ours comes near it. */
const longestHeader = 1 << 20;

/**
 * Counts the rows of CSV and reports what is not CSV: strictly RFC 4180 with a header, commas and LF. It keeps no cell but
 * the header's, and looks at most bytes once; `scanCsv` is for what others wrote.
 */
export class CsvCounter implements ByteScanner {
  /** The header, as it stands, when it was read. */
  header: Buffer | undefined;
  /** Without the header. */
  rows = 0;
  readonly #carry = carryBytes(longestHeader);
  #width = 0;
  #cells = 1;
  #place = atStart;
  #isCut = true;

  /** @throws {Error} at what is no CSV, or a row with more or fewer cells than the header */
  push(pushed: Uint8Array): void {
    const bytes = asBuffer(pushed);
    const { length } = bytes;
    if (length === 0) return;
    let place = this.#place;
    for (let at = 0; at < length; ) {
      if (place === inQuotes) {
        while (at < length && bytes[at] !== quote) at += 1;
        if (at === length) break;
        at += 1;
        // Most quotes in there are doubled, around the strings of JSON.
        if (at < length && bytes[at] === quote) at += 1;
        else place = behindQuotes;
        continue;
      }
      const byte = bytes[at] ?? 0;
      if (byte === comma) {
        this.#cells += 1;
        place = atStart;
      } else if (byte === lineFeed) {
        this.#endRow(bytes, at);
        place = atStart;
      } else if (byte === quote) {
        if (place === inText) throw this.#fault('has a quote inside an unquoted cell');
        place = inQuotes;
      } else {
        if (place === behindQuotes) throw this.#fault('has text after a closing quote');
        place = inText;
        // Letters and digits, by one comparison; what is below a comma takes the long way.
        while (at + 1 < length && (bytes[at + 1] ?? 0) > comma) at += 1;
      }
      at += 1;
    }
    if (this.header === undefined) this.#carry.add(bytes, 0, length);
    this.#place = place;
    this.#isCut = bytes[length - 1] !== lineFeed;
  }

  /** @throws {Error} when the last row has no end */
  end(): void {
    if (this.#place === inQuotes) throw this.#fault('has an unclosed quote');
    if (this.#isCut) throw this.#fault('is cut');
  }

  #endRow(bytes: Buffer, at: number): void {
    if (this.header === undefined) {
      this.header = this.#headerUpTo(bytes, at);
      this.#width = this.#cells;
    } else {
      if (this.#cells !== this.#width) throw this.#fault(`has ${this.#cells} cells, but the header has ${this.#width}`);
      this.rows += 1;
    }
    this.#cells = 1;
  }

  #headerUpTo(bytes: Buffer, at: number): Buffer {
    const span: ByteSpan = { bytes, start: 0, end: 0, line: 1, cut: false };
    this.#carry.add(bytes, 0, at);
    this.#carry.moveTo(span);
    if (span.cut) throw this.#fault(`is longer than ${longestHeader} bytes`);
    return span.bytes;
  }

  #fault(why: string): Error {
    return new Error(`${this.header === undefined ? 'the header' : `row ${this.rows + 1}`} ${why}`);
  }
}
