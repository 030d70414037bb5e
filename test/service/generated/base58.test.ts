import bs58 from 'bs58';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextAddress } from '../../../packages/practice-service/src/generated/base58.ts';

test('an address is what bs58 makes of its eight numbers, leading zeros and all', () => {
  const key = fc
    .tuple(fc.integer({ min: 0, max: 32 }), fc.uint8Array({ minLength: 32, maxLength: 32 }))
    .map(([zeros, bytes]) => bytes.fill(0, 0, zeros));
  fc.assert(
    fc.property(key, (bytes) => {
      const words = Buffer.from(bytes);
      let at = 0;
      const next = (): number => words.readUInt32BE(4 * at++);
      expect(nextAddress({ next })).toBe(bs58.encode(bytes));
    }),
    { seed: 58, numRuns: 2000 },
  );
});
