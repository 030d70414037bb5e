import { alphabet } from '../../../src/lib/ids/asset-id.ts';

const keyBytes = 32;

/** The id of a key of 32 bytes. */
export function idOfKey(key: Buffer): string {
  let value = BigInt(`0x${key.toString('hex')}`);
  let text = '';
  for (; value > 0n; value /= 58n) text = (alphabet[Number(value % 58n)] ?? '') + text;
  const zeros = key.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros < 0 ? keyBytes : zeros) + text;
}
