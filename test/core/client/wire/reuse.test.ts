import { describe, expect, it } from 'vitest';
import { Reuse } from '../../../../src/core/client/policies/with-reuse.ts';

describe('the reuse of connections', () => {
  it('ends at the third lost request of the last 32, and says so once', () => {
    const reuse = new Reuse();
    const said = [true, false, true, false, true].map((isLost) => reuse.ended(isLost));
    expect(said).toEqual([false, false, false, false, true]);
    expect(reuse.takesFresh()).toBe(true);
  });

  it('stays where two of each 32 requests are lost', () => {
    const reuse = new Reuse();
    for (let n = 0; n < 3200; n += 1) {
      expect(reuse.takesFresh()).toBe(false);
      expect(reuse.ended(n % 16 === 0)).toBe(false);
    }
  });

  it('is tried again after 256 fresh requests, then after twice as many, and at last after each 4,096', () => {
    const reuse = new Reuse();
    const fresh = Array.from({ length: 7 }, () => {
      for (let lost = 1; lost <= 3; lost += 1) {
        expect(reuse.takesFresh()).toBe(false);
        expect(reuse.ended(true)).toBe(lost === 3);
      }
      let taken = 1;
      expect(reuse.takesFresh()).toBe(true);
      for (;;) {
        // Requests that left before the reuse ended are lost late.
        if (taken < 8) expect(reuse.ended(true)).toBe(false);
        if (!reuse.takesFresh()) return taken;
        taken += 1;
      }
    });
    expect(fresh).toEqual([256, 512, 1024, 2048, 4096, 4096, 4096]);
  });
});
