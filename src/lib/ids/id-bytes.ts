import { alphabet, digitOf } from './asset-id.ts';

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
