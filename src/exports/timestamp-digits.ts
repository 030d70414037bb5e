import { timestampOf } from '../core/records/texts.ts';

/** Microseconds as digits, of timestamps as text. The last one is kept: a column of them often holds one alone. */
export class TimestampDigits {
  #text = '';
  #digits = '';

  of(bytes: Buffer, start: number, end: number): string {
    const text = bytes.toString('latin1', start, end);
    if (text !== this.#text) {
      this.#text = text;
      this.#digits = String(timestampOf(text));
    }
    return this.#digits;
  }
}
