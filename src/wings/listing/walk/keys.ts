import { keyBytes } from '../../../lib/ids/asset-id.ts';

/** The largest key: an id is a number of 32 bytes, and so is every place between ids. */
export const lastKey = (1n << BigInt(8 * keyBytes)) - 1n;

/** The number behind the last key: where a range ends that is open. */
export const endOfKeys = lastKey + 1n;

/** The number that 32 bytes stand for, from `at` on. */
export function keyAt(bytes: Uint8Array, at: number): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, keyBytes);
  let key = 0n;
  for (let word = 0; word < keyBytes; word += 8) key = (key << 64n) | view.getBigUint64(word);
  return key;
}

/** The 32 bytes of a key. */
export function bytesOfKey(key: bigint): Uint8Array {
  const bytes = new Uint8Array(keyBytes);
  const view = new DataView(bytes.buffer);
  for (let word = keyBytes - 8, rest = key; word >= 0; word -= 8, rest >>= 64n)
    view.setBigUint64(word, rest & 0xffff_ffff_ffff_ffffn);
  return bytes;
}

/** Which way the ids of pages go. */
export type Direction = 'rising' | 'falling';

/** Half open: keys from `from` on, below `to`. */
export interface KeyRange {
  readonly from: bigint;
  readonly to: bigint;
}

/**
 * Where a key is met: a walk through falling ids is the walk through rising ones of mirrored keys. It is its own inverse.
 */
export function mirrored(key: bigint, direction: Direction): bigint {
  return direction === 'rising' ? key : lastKey - key;
}

/** The same for a range. */
export function mirroredRange({ from, to }: KeyRange, direction: Direction): KeyRange {
  return direction === 'rising' ? { from, to } : { from: endOfKeys - to, to: endOfKeys - from };
}
