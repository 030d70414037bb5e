import { numberAt } from './host';
import { byteAt } from './memory';
import { minus, nine, zero } from './tokens';

/** What the digits stand for that were read last: two's complement of 128 bits. */
export let low: u64 = 0;
export let high: u64 = 0;

/** Reads digits with or without a minus; 0 where the length is not above zero. */
export function addDigits(start: usize, length: i32): void {
  low = 0;
  high = 0;
  if (length <= 0) return;
  const end = start + length;
  const isNegative = byteAt(start) == minus;
  for (let at = isNegative ? start + 1 : start; at < end; at += 1) {
    const lower = (low & 0xffff_ffff) * 10 + (byteAt(at) - zero);
    const upper = (low >> 32) * 10 + (lower >> 32);
    high = high * 10 + (upper >> 32);
    low = (upper << 32) | (lower & 0xffff_ffff);
  }
  if (!isNegative) return;
  low = ~low + 1;
  high = low == 0 ? ~high + 1 : ~high;
}

/** Powers of ten that a double holds exactly. */
const mostPower: i32 = 22;
const powers: usize = memory.data<f64>([
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
  1e21, 1e22,
]);
/** Digits that a double holds exactly, whatever they are. */
const exactDigits: i32 = 15;

/**
 * The double that a number's text stands for; 0 where the length is not above zero. Few digits and a power of ten, both exact, make it by one operation, which
 * rounds once (Clinger 1990). Others are asked of TypeScript.
 */
export function doubleAt(start: usize, length: i32): f64 {
  if (length <= 0) return 0;
  const end = start + length;
  const isNegative = byteAt(start) == minus;
  let digits: u64 = 0;
  let count = 0;
  let power = 0;
  let isBehindPoint = false;
  for (let at = isNegative ? start + 1 : start; at < end; at += 1) {
    const byte = byteAt(at);
    if (byte >= zero && byte <= nine) {
      digits = digits * 10 + (byte - zero);
      // Zeros in front count for nothing.
      if (digits != 0) count += 1;
      if (isBehindPoint) power += 1;
    } else if (byte == point && !isBehindPoint) isBehindPoint = true;
    else return numberAt(start, length);
  }
  if (count > exactDigits || power > mostPower) return numberAt(start, length);
  const value = <f64>digits / load<f64>(powers + ((<usize>power) << 3));
  return isNegative ? -value : value;
}

const point: u32 = 0x2e;
