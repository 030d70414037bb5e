import type { Words } from './words.ts';
import { minus, zero } from '../../lib/ascii.ts';

/** Digits that a double holds exactly, whatever they are. */
export const exactDigits = 15;

/** The integer that digits with or without a minus stand for; exact when it is a safe one. */
export function integerOf({ bytes }: Words, start: number, length: number): number {
  const isNegative = bytes[start] === minus;
  let value = 0;
  for (let at = isNegative ? start + 1 : start, end = start + length; at < end; at += 1) {
    value = value * 10 + ((bytes[at] ?? zero) - zero);
  }
  return isNegative ? -value : value;
}
