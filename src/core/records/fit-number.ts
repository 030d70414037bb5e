import { type ExactNumber, numberText } from '../../lib/json/exact-number.ts';

const maxInt64 = 2n ** 63n - 1n;
const minInt64 = -(2n ** 63n);
const maxUint64 = 2n ** 64n - 1n;
/** Digits of the largest u64, and of the smallest int64 with its sign: no longer text can fit. */
const maxDigits = 20;

/** A number as a cell of an int64 column, or undefined when that cannot hold its exact value. */
export function int64Of(value: number | ExactNumber): number | bigint | undefined {
  return integerOf(value, minInt64, maxInt64);
}

/** A number as a cell of a decimal(20,0) column, a u64, or undefined when that cannot hold its exact value. */
export function uint64Of(value: number | ExactNumber): number | bigint | undefined {
  return integerOf(value, 0n, maxUint64);
}

/** A number as a double, or undefined when the double's shortest text is another number (`1e400`, 20 digits). */
export function doubleOf(value: number | ExactNumber): number | undefined {
  if (typeof value === 'number') return value;
  const double = Number(value.text);
  if (!Number.isFinite(double)) return undefined;
  return sameNumber(numberText(double), value.text) ? double : undefined;
}

/** True when two number texts mean the same number: `1.50` and `15e-1` do, `0` and `-0` do not. */
export function sameNumber(a: string, b: string): boolean {
  if (a === b) return true;
  const [left, right] = [decimalOf(a), decimalOf(b)];
  return left.negative === right.negative && left.digits === right.digits && left.exponent === right.exponent;
}

function integerOf(value: number | ExactNumber, min: bigint, max: bigint): number | bigint | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min) return value;
  const text = integerText(numberText(value));
  if (text === undefined) return undefined;
  // The text counts, not the double: JavaScript prints 2^64 as 18446744073709552000.
  const integer = BigInt(text);
  if (integer < min || integer > max) return undefined;
  const double = Number(integer);
  return Number.isSafeInteger(double) ? double : integer;
}

/** The plain digits of an integer of at most 20 (`12e2` is `1200`); undefined for others and for minus zero. */
function integerText(text: string): string | undefined {
  if (/^(?:0|-?[1-9]\d*)$/.test(text)) return text.length <= maxDigits ? text : undefined;
  const { negative, digits, exponent } = decimalOf(text);
  if (exponent < 0 || digits.length + exponent > maxDigits || (negative && digits === '')) return undefined;
  return (negative ? '-' : '') + (digits === '' ? '0' : digits + '0'.repeat(exponent));
}

/** The number as ±digits · 10^exponent, digits without a zero at either end; zero has none. */
function decimalOf(text: string) {
  const negative = text.startsWith('-');
  const [mantissa = '', power = '0'] = (negative ? text.slice(1) : text).split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = whole + fraction;
  let start = 0;
  while (all[start] === '0') start += 1;
  let end = all.length;
  while (end > start && all[end - 1] === '0') end -= 1;
  if (start === end) return { negative, digits: '', exponent: 0 };
  return { negative, digits: all.slice(start, end), exponent: Number(power) - fraction.length + all.length - end };
}
