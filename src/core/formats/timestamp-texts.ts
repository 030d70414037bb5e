import { timestampText } from '../records/timestamp-text.ts';
import { type FixedTexts, fixedTexts } from './words.ts';

/** Bytes of a timestamp's text: microseconds that are a safe integer lie in years of four digits. */
export const timestampBytes = 27;

/** Texts of timestamps as bytes. The last one is kept: a column of them often holds one alone. */
export class TimestampTexts {
  #us = 0;
  #text = fixedTexts([timestampText(0)]);

  of(us: number): FixedTexts {
    if (us !== this.#us) {
      this.#us = us;
      this.#text = fixedTexts([timestampText(us)]);
    }
    return this.#text;
  }
}
