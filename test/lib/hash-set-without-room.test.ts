import { randomFillSync } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { separateMemory } from '../../src/lib/aligned-memory.ts';
import { HashSet128 } from '../../src/lib/hash-set-128.ts';

vi.mock(import('../../src/lib/aligned-memory.ts'), async (original) => ({
  ...(await original()),
  separateMemory: vi.fn(() => {
    throw new RangeError('Array buffer allocation failed');
  }),
}));

describe('HashSet128, where there is no memory for all that is expected', () => {
  it('grows a little at a time, and asks the system no more than once a step', () => {
    const set = new HashSet128();
    const hashes = randomFillSync(new Uint32Array(4 * 16_384));
    set.addAll(hashes);
    const before = set.bytes;
    set.expect(40 * 16_384);
    for (let round = 0; round < 8; round += 1) set.addAll(randomFillSync(new Uint32Array(4 * 16_384)));
    expect(set.addAll(hashes)).not.toContain(1);
    expect(set.size).toBe(9 * 16_384);
    expect(set.bytes).toBeGreaterThan(before);
    expect(vi.mocked(separateMemory).mock.calls.length).toBeLessThan(5);
    expect(separateMemory).toHaveBeenCalled();
  });
});
