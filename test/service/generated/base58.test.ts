import bs58 from 'bs58';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { base58OfKey } from '../../../src/service/generated/base58.ts';

test('a key of 32 bytes, leading zeros and all, is encoded as bs58 does it', () => {
  const key = fc
    .tuple(fc.integer({ min: 0, max: 32 }), fc.uint8Array({ minLength: 32, maxLength: 32 }))
    .map(([zeros, bytes]) => bytes.fill(0, 0, zeros));
  fc.assert(
    fc.property(key, (bytes) => {
      expect(base58OfKey(bytes)).toBe(bs58.encode(bytes));
    }),
    { seed: 58, numRuns: 2000 },
  );
});
