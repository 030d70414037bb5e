import { isAssetId } from '../../../lib/ids/asset-id.ts';
import { keyBytes, putIdBytes } from '../../../lib/ids/id-bytes.ts';

/** Most keys that are remembered: creators, collections and large owners come again and again. */
const mostKeys = 4096;

const known = new Map<string, Uint8Array>();

/** The 32 bytes of a key; undefined for a text that is none. */
export function bytesOfAddress(text: string): Uint8Array | undefined {
  const before = known.get(text);
  if (before !== undefined || !isAssetId(text)) return before;
  const bytes = new Uint8Array(keyBytes);
  putIdBytes(text, bytes, 0);
  if (known.size >= mostKeys) known.clear();
  known.set(text, bytes);
  return bytes;
}

/** Bytes to hash, in the chain's encoding: integers little-endian, texts behind their length. */
export class HashInput {
  #bytes = Buffer.allocUnsafeSlow(1024);
  #end = 0;

  /** All that was put. Valid until more is put. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#end);
  }

  clear(): this {
    this.#end = 0;
    return this;
  }

  put(bytes: Uint8Array): this {
    const at = this.#advance(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  byte(value: number): this {
    const at = this.#advance(1);
    this.#bytes[at] = value;
    return this;
  }

  /** @param length of the number in bytes */
  integer(value: number, length: number): this {
    const at = this.#advance(length);
    for (let index = 0, rest = value; index < length; index += 1, rest = Math.floor(rest / 256))
      this.#bytes[at + index] = rest % 256;
    return this;
  }

  text(bytes: Uint8Array): this {
    return this.integer(bytes.length, 4).put(bytes);
  }

  /** 1 and the value, or 0 where there is none. */
  option(bytes: Uint8Array | readonly number[] | undefined): this {
    return bytes === undefined ? this.byte(0) : this.byte(1).put(Uint8Array.from(bytes));
  }

  #advance(bytes: number): number {
    const at = this.#end;
    this.#end += bytes;
    if (this.#end > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(this.#end * 2);
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    return at;
  }
}
