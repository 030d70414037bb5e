import { alphabet, digitOf } from '../lib/asset-id.ts';

const keyBytes = 32;

/** The key in 24-bit limbs, lowest first: a limb times 58^4 plus a carry stays far below 2^53. */
const limbs = new Float64Array(11);
const limbBase = 2 ** 24;

/**
 * The 32 bytes of an asset id into `key`. The id must be valid (`isAssetId`); no arithmetic on bigints, since a
 * call asks for a thousand.
 */
export function writeKey(id: string, key: Buffer): void {
  limbs.fill(0);
  for (let start = 0; start < id.length; start += 4) {
    const end = Math.min(start + 4, id.length);
    let carry = 0;
    let scale = 1;
    for (let index = start; index < end; index += 1) {
      carry = carry * 58 + (digitOf[id.charCodeAt(index)] ?? 0);
      scale *= 58;
    }
    for (let limb = 0; limb < limbs.length; limb += 1) {
      const value = (limbs[limb] ?? 0) * scale + carry;
      carry = Math.floor(value / limbBase);
      limbs[limb] = value - carry * limbBase;
    }
  }
  for (let index = 0; index < keyBytes; index += 1) {
    const place = keyBytes - 1 - index;
    key[index] = ((limbs[Math.floor(place / 3)] ?? 0) >>> ((place % 3) * 8)) & 0xff;
  }
}

/** The id of a key of 32 bytes. */
export function idOfKey(key: Buffer): string {
  let value = BigInt(`0x${key.toString('hex')}`);
  let text = '';
  for (; value > 0n; value /= 58n) text = (alphabet[Number(value % 58n)] ?? '') + text;
  const zeros = key.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros < 0 ? keyBytes : zeros) + text;
}
