import { describe, expect, it } from 'vitest';
import { isAssetId, idOfBytes, keyBytes, putIdBytes } from '../../../src/lib/ids/asset-id.ts';
import { SeededRandom } from '../../../packages/practice-service/src/generated/seeded-random.ts';

/** Keys with so many zero bytes in front, and two of each kind of limit. */
function keys(): Uint8Array[] {
  const random = new SeededRandom([1, 2, 3, 4]);
  const drawn = Array.from({ length: 2000 }, (_, index) => {
    const key = Uint8Array.from({ length: keyBytes }, () => random.below(256));
    return index % 40 < keyBytes ? key.fill(0, 0, index % 40) : key;
  });
  const ends = [0, 1, 255].map((byte) => new Uint8Array(keyBytes).fill(byte));
  return [...drawn, ...ends, new Uint8Array(keyBytes).fill(1, keyBytes - 1), new Uint8Array(keyBytes).fill(255, 1)];
}

/** The plain arithmetic. */
function numberOf(id: string): bigint {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  return Array.from(id).reduce((value, digit) => value * 58n + BigInt(alphabet.indexOf(digit)), 0n);
}

describe('an id and its 32 bytes', () => {
  it('are made of each other, for every key', () => {
    const bytes = new Uint8Array(keyBytes + 2).fill(7);
    for (const key of keys()) {
      const id = idOfBytes(key);
      expect(isAssetId(id)).toBe(true);
      expect(numberOf(id)).toBe(BigInt(`0x${Buffer.from(key).toString('hex')}`));
      putIdBytes(id, bytes, 1);
      expect(Buffer.from(bytes.subarray(1, keyBytes + 1)).equals(key)).toBe(true);
    }
    expect([bytes[0], bytes.at(-1)]).toEqual([7, 7]);
  });

  it('are known for these', () => {
    expect(idOfBytes(new Uint8Array(keyBytes))).toBe('11111111111111111111111111111111');
    expect(idOfBytes(new Uint8Array(keyBytes).fill(255))).toBe('JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFG');
  });
});
