import { alphabet } from '../../../../src/lib/ids/asset-id.ts';
import type { SeededRandom } from './seeded-random.ts';

const letters = Buffer.from(alphabet, 'latin1');
/** Five digits at once: the largest power of 58 whose remainder, shifted by 16 bits, is exact in a double. */
const limbBase = 58 ** 5;
const keyBytes = 32;
const digitCount = 45;

const halfWords = new Uint16Array(keyBytes / 2);
const digits = Buffer.alloc(digitCount);

/** An address (base58 of 32 bytes, 32 to 44 characters) made of the next eight numbers, the first of them in front. */
export function nextAddress(random: Pick<SeededRandom, 'next'>): string {
  for (let index = 0; index < halfWords.length; index += 2) {
    const word = random.next();
    halfWords[index] = word >>> 16;
    halfWords[index + 1] = word & 0xffff;
  }
  return encodeHalfWords();
}

/** Long division by 58^5, in place and without bigints: ids are made by the million. */
function encodeHalfWords(): string {
  const ones = leadingZeroBytes();
  let start = ones >> 1;
  let position = digitCount;
  while (start < halfWords.length) {
    let rest = 0;
    for (let index = start; index < halfWords.length; index += 1) {
      const value = rest * 0x1_0000 + (halfWords[index] ?? 0);
      const quotient = Math.floor(value / limbBase);
      halfWords[index] = quotient;
      rest = value - quotient * limbBase;
    }
    while (start < halfWords.length && halfWords[start] === 0) start += 1;
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

function leadingZeroBytes(): number {
  let index = 0;
  while (index < halfWords.length && halfWords[index] === 0) index += 1;
  if (index === halfWords.length) return keyBytes;
  return 2 * index + ((halfWords[index] ?? 0) < 0x100 ? 1 : 0);
}
