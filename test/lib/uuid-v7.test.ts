import { expect, it } from 'vitest';
import { uuidV7 } from '../../src/lib/clock.ts';

it('a UUID of version 7 is that of RFC 9562, appendix A.6', () => {
  const random = Buffer.from('0cc318c4dc0c0c07398f', 'hex');
  expect(uuidV7(0x017f22e279b0, random)).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
});

it('two UUIDs of one moment differ, and a later one sorts behind', () => {
  expect(uuidV7(5)).not.toBe(uuidV7(5));
  expect([uuidV7(6000), uuidV7(5000)].sort()[0]).toMatch(/^00000000-1388-7/);
});
