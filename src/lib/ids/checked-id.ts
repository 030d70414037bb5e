import { hash128, hashBlock } from '../hash/hash-128.ts';
import { alphabet, digitOf, isAssetIdAt, longestId, powerOf256, shortestId } from './asset-id.ts';

/** Texts of these lengths with a first digit of more, or of less, are 32 bytes for sure: all but a few ids. */
const firstAbove43 = powerOf256(31)[0] ?? 0;
const firstBelow44 = powerOf256(32)[0] ?? 0;

/** 1 for two characters, as a little-endian number, that are not both base58. */
const isOddPair = new Uint8Array(65_536).fill(1);
for (const first of Buffer.from(alphabet)) {
  for (const second of Buffer.from(alphabet)) isOddPair[first | (second << 8)] = 0;
}

/** Checks ids and takes their hash, reading each once, four characters at a time. One object for many ids. */
export class CheckedId {
  readonly #block = hashBlock(longestId);
  readonly #text = Buffer.alloc(longestId);
  #length = 0;
  #bytes: Uint8Array | undefined;
  #view: DataView = new DataView(new ArrayBuffer(0));
  #target: Uint8Array | undefined;
  #targetView = this.#view;

  /** True when the bytes from `start` up to `end` are an asset id, which is kept until the next call. Exact. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    if (length < shortestId || length > longestId) return false;
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    if (!this.#keep(start, end)) return false;
    this.#length = length;
    const first = digitOf[bytes[start] ?? 0] ?? 0;
    if (length === 44 && first > 0 && first < firstBelow44) return true;
    if (length === 43 && first > firstAbove43) return true;
    return isAssetIdAt(bytes, start, end);
  }

  /** The same for a text. */
  readText(text: string): boolean {
    const { length } = text;
    if (length > longestId) return false;
    for (let index = 0; index < length; index += 1) {
      // A code above a byte would be folded into another character.
      const code = text.charCodeAt(index);
      this.#text[index] = code > 127 ? 255 : code;
    }
    return this.read(this.#text, 0, length);
  }

  /** Puts the hash of the id that was read last into four words, from `at` on. */
  hashTo(hashes: Uint32Array, at: number): void {
    hash128(this.#block, this.#length, 0);
    const { hash } = this.#block;
    hashes[at] = hash[0] ?? 0;
    hashes[at + 1] = hash[1] ?? 0;
    hashes[at + 2] = hash[2] ?? 0;
    hashes[at + 3] = hash[3] ?? 0;
  }

  /**
   * Puts the characters of the id that was read last into bytes, from `at` on, and gives how many they are. Up to `longestId`
   * bytes are written: those behind the id have no meaning.
   */
  copyTo(bytes: Uint8Array, at: number): number {
    const { words } = this.#block;
    const length = this.#length;
    if (bytes !== this.#target) {
      this.#target = bytes;
      this.#targetView = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    const view = this.#targetView;
    for (let word = 0; word * 4 < length; word += 1) view.setInt32(at + word * 4, words[word] ?? 0, true);
    return length;
  }

  /** Keeps the characters from `start` up to `end`. False when one of them is not base58. */
  #keep(start: number, end: number): boolean {
    const { words } = this.#block;
    const view = this.#view;
    let isOdd = 0;
    let word = 0;
    let at = start;
    for (; at + 4 <= end; at += 4) {
      const four = view.getInt32(at, true);
      isOdd |= (isOddPair[four & 65_535] ?? 1) | (isOddPair[four >>> 16] ?? 1);
      words[word++] = four;
    }
    if (at < end) {
      // The last four, without those that were read before: zeros follow the last character.
      const four = view.getInt32(end - 4, true);
      isOdd |= (isOddPair[four & 65_535] ?? 1) | (isOddPair[four >>> 16] ?? 1);
      words[word] = four >>> (8 * (4 - end + at));
    }
    return isOdd === 0;
  }
}
