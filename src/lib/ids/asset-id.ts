import { hash128, hashBlock } from '../hash/hash-set-128.ts';

/** How many bytes an asset id decodes to. */
const idBytes = 32;

/** Longest and shortest text that can decode to 32 bytes. */
export const longestId = 44;
export const shortestId = 32;

/** The 58 digits, from 0. */
export const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** The base58 digit of a character code below 256; 255 for every other character. */
const digitOf = new Uint8Array(256).fill(255);
for (let digit = 0; digit < alphabet.length; digit += 1) digitOf[alphabet.charCodeAt(digit)] = digit;

const powers: Uint8Array[] = [];

/**
 * The digits of 256^n, the smallest number that needs n + 1 bytes. Numbers of equally many digits sort as their texts do,
 * so comparing with these replaces the arithmetic.
 */
function powerOf256(exponent: number): Uint8Array {
  while (powers.length <= exponent) powers.push(digitsOf(256n ** BigInt(powers.length)));
  return powers[exponent] ?? new Uint8Array(0);
}
powerOf256(idBytes);

/** True when the text is base58 and decodes to exactly 32 bytes. Exact, in about a tenth of a microsecond. */
export function isAssetId(text: string): boolean {
  const length = text.length;
  if (length < shortestId || length > longestId) return false;
  for (let index = 0; index < length; index += 1) {
    scratch[index] = text.charCodeAt(index) > 127 ? 255 : text.charCodeAt(index);
  }
  return isAssetIdAt(scratch, 0, length);
}

const scratch = new Uint8Array(longestId);

/** The same for ASCII bytes from `start` up to `end`: for readers that have no string yet. */
export function isAssetIdAt(bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  if (length < shortestId || length > longestId) return false;
  let ones = 0;
  while (ones < length && bytes[start + ones] === 49) ones += 1;
  if (ones > idBytes) return false;
  const first = start + ones;
  for (let index = first; index < end; index += 1) {
    if (digitOf[bytes[index] ?? 0] === 255) return false;
  }
  // Each leading one is a zero byte; what follows must fill the rest of the 32 exactly.
  const rest = idBytes - ones;
  if (isAtLeast(bytes, first, end, powers[rest])) return false;
  return rest === 0 || isAtLeast(bytes, first, end, powers[rest - 1]);
}

/** True when the base58 digits from `first` up to `end`, the first of them not zero, are no smaller number than the bound. */
function isAtLeast(bytes: Uint8Array, first: number, end: number, bound?: Uint8Array): boolean {
  const length = end - first;
  if (bound === undefined || length !== bound.length) return bound !== undefined && length > bound.length;
  for (let index = 0; index < length; index += 1) {
    const difference = (digitOf[bytes[first + index] ?? 0] ?? 0) - (bound[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** True when the character is one of the 58. */
export function isBase58(character: string): boolean {
  return character.length === 1 && alphabet.includes(character);
}

/** How many bytes base58 text decodes to. Quick, but remembers a bound for each number of bytes it met. */
export function base58Length(text: string): number {
  const bytes = Buffer.from(text, 'latin1');
  const odd = bytes.findIndex((byte) => digitOf[byte] === 255);
  if (odd >= 0) throw new RangeError(`not base58 at character ${odd + 1}`);
  let first = 0;
  while (bytes[first] === 49) first += 1;
  const end = bytes.length;
  // A digit is log256(58) of a byte; the estimate is at most one too small.
  let length = Math.max(0, Math.floor((end - first - 1) * (Math.log(58) / Math.log(256))));
  while (end > first && isAtLeast(bytes, first, end, powerOf256(length))) length += 1;
  return first + length;
}

function digitsOf(value: bigint): Uint8Array {
  const digits: number[] = [];
  for (let rest = value; rest > 0n; rest /= 58n) digits.unshift(Number(rest % 58n));
  return Uint8Array.from(digits);
}

/** How many bytes an id stands for. */
export const keyBytes = 32;

const letters = Buffer.from(alphabet, 'latin1');
/** Five digits at once: the largest power of 58 whose remainder, shifted by 16 bits, is exact in a double. */
const limbBase = 58 ** 5;
const halves = keyBytes / 2;
const digitCount = 45;

const halfWords = new Float64Array(halves);
const digits = Buffer.alloc(digitCount);

/** Puts the 32 bytes of an id that is known to be one into bytes, from `at` on. Ids are read by the million: without bigints. */
export function putIdBytes(id: string, bytes: Uint8Array, at: number): void {
  halfWords.fill(0);
  // Words before this one are still zero.
  let used = halves;
  for (let index = 0; index < id.length; ) {
    let value = 0;
    let factor = 1;
    for (const end = Math.min(id.length, index + 5); index < end; index += 1) {
      value = value * 58 + (digitOf[id.charCodeAt(index)] ?? 0);
      factor *= 58;
    }
    let word = halves - 1;
    for (; word >= used || value > 0; word -= 1) {
      value += (halfWords[word] ?? 0) * factor;
      halfWords[word] = value % 0x1_0000;
      value = Math.floor(value / 0x1_0000);
    }
    used = Math.min(used, word + 1);
  }
  for (let word = 0; word < halves; word += 1) {
    bytes[at + 2 * word] = (halfWords[word] ?? 0) >>> 8;
    bytes[at + 2 * word + 1] = (halfWords[word] ?? 0) & 0xff;
  }
}

/** The id that 32 bytes stand for, from `at` on. */
export function idOfBytes(bytes: Uint8Array, at = 0): string {
  for (let word = 0; word < halves; word += 1)
    halfWords[word] = ((bytes[at + 2 * word] ?? 0) << 8) | (bytes[at + 2 * word + 1] ?? 0);
  let ones = 0;
  while (ones < keyBytes && bytes[at + ones] === 0) ones += 1;
  let start = ones >> 1;
  let position = digitCount;
  while (start < halves) {
    let rest = 0;
    for (let index = start; index < halves; index += 1) {
      const value = rest * 0x1_0000 + (halfWords[index] ?? 0);
      const quotient = Math.floor(value / limbBase);
      halfWords[index] = quotient;
      rest = value - quotient * limbBase;
    }
    while (start < halves && halfWords[start] === 0) start += 1;
    for (let digit = 0; digit < 5; digit += 1) {
      position -= 1;
      digits[position] = rest % 58;
      rest = Math.floor(rest / 58);
    }
  }
  while (position < digitCount && digits[position] === 0) position += 1;
  for (let index = position; index < digitCount; index += 1) digits[index] = letters[digits[index] ?? 0] ?? 0;
  return '1'.repeat(ones) + digits.toString('latin1', position, digitCount);
}

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
