import type { CheckedId } from '../../lib/ids/asset-id.ts';
import { asBuffer } from '../../lib/scan/split-lines.ts';
import { closeBracket, comma, openBracket, quote } from '../../lib/ascii.ts';

/** Ids of a batch or a call, as bytes outside the heap: those of many calls wait at a time, and each collection would move strings about. */
export class IdList implements Iterable<string> {
  readonly #bytes: Buffer;
  /** Two numbers an id: where it begins in the bytes, and where it ends. */
  readonly #spans: Uint32Array;

  /**
   * @param bytes what holds the ids
   * @param spans two numbers an id: where it begins in the bytes, and where it ends
   */
  constructor(bytes: Uint8Array, spans: Uint32Array) {
    this.#bytes = asBuffer(bytes);
    this.#spans = spans;
  }

  /** @param texts base58 */
  static of(texts: readonly string[]): IdList {
    const spans = new Uint32Array(2 * texts.length);
    let end = 0;
    for (const [place, text] of texts.entries()) {
      spans[2 * place] = end;
      end += text.length;
      spans[2 * place + 1] = end;
    }
    return new IdList(Buffer.from(texts.join(''), 'latin1'), spans);
  }

  get length(): number {
    return this.#spans.length / 2;
  }

  get first(): string | undefined {
    return this.length === 0 ? undefined : this.at(0);
  }

  /** The id at a place below `length`. */
  at(place: number): string {
    return this.#bytes.toString('latin1', this.#spans[2 * place], this.#spans[2 * place + 1]);
  }

  /** Has an id checked and kept. */
  readAt(place: number, id: CheckedId): boolean {
    return id.read(this.#bytes, this.#spans[2 * place] ?? 0, this.#spans[2 * place + 1] ?? 0);
  }

  *[Symbol.iterator](): Generator<string, void, void> {
    for (let place = 0; place < this.length; place += 1) yield this.at(place);
  }

  /** The ids at these places, in their order. */
  pick(places: Uint32Array): IdList {
    const spans = new Uint32Array(2 * places.length);
    let to = 0;
    for (const place of places) {
      spans[to++] = this.#spans[2 * place] ?? 0;
      spans[to++] = this.#spans[2 * place + 1] ?? 0;
    }
    return new IdList(this.#bytes, spans);
  }

  /** The place of an id, from `from` on; -1 when it is not there. */
  indexOf(id: string, from = 0): number {
    // A record's id may be any text: as UTF-8, none but the same is equal to base58.
    const bytes = Buffer.from(id);
    for (let place = from; place < this.length; place += 1) if (this.isAt(place, bytes, 0, bytes.length)) return place;
    return -1;
  }

  /** Whether the id at a place is a text that lies in bytes. No string is made of either. */
  isAt(place: number, bytes: Uint8Array, start: number, length: number): boolean {
    const own = this.#bytes;
    const from = this.#spans[2 * place] ?? 0;
    if (place >= this.length || (this.#spans[2 * place + 1] ?? 0) - from !== length) return false;
    for (let at = 0; at < length; at += 1) if (own[from + at] !== bytes[start + at]) return false;
    return true;
  }

  /** The ids as a JSON array of strings: base58 needs no escapes. */
  toJson(): Buffer {
    const own = this.#bytes;
    const spans = this.#spans;
    let bytes = 2;
    for (let at = 0; at < spans.length; at += 2) bytes += (spans[at + 1] ?? 0) - (spans[at] ?? 0) + 3;
    const json = Buffer.allocUnsafeSlow(bytes);
    let to = 0;
    json[to++] = openBracket;
    for (let at = 0; at < spans.length; at += 2) {
      const end = spans[at + 1] ?? 0;
      if (at > 0) json[to++] = comma;
      json[to++] = quote;
      for (let from = spans[at] ?? 0; from < end; from += 1) json[to++] = own[from] ?? 0;
      json[to++] = quote;
    }
    json[to++] = closeBracket;
    return json.subarray(0, to);
  }
}
