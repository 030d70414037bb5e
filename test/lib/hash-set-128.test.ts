import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HashSet128 } from '../../src/lib/hash-set-128.ts';

describe('HashSet128', () => {
  it('tells new from known as a Set does', () => {
    const text = fc.oneof(fc.string({ maxLength: 3 }), fc.string({ maxLength: 300, unit: 'grapheme' }));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 300 }), (texts) => {
        const set = new HashSet128();
        const known = new Set<string>();
        for (const one of texts) {
          expect(set.add(one)).toBe(!known.has(one));
          known.add(one);
        }
        expect(set.size).toBe(known.size);
      }),
      { seed: 36, numRuns: 300 },
    );
  });

  it('knows a million texts that differ in little, in at most 25 bytes each, and never grows by more than a hundredth', () => {
    const set = new HashSet128();
    const text = (number: number): string => `11111111111111111111111111111111${number.toString(36)}`;
    let added = 0;
    let bytes = 0;
    let largestStep = 0;
    for (let number = 0; number < 1_000_000; number += 1) {
      if (set.add(text(number))) added += 1;
      if (number % 100 !== 0 || number < 100_000) continue;
      if (bytes > 0) largestStep = Math.max(largestStep, (set.bytes - bytes) / bytes);
      bytes = set.bytes;
    }
    expect(added).toBe(1_000_000);
    expect(set.size).toBe(1_000_000);
    expect(set.bytes / set.size).toBeLessThan(25);
    expect(largestStep).toBeLessThan(0.01);
    let known = 0;
    for (let number = 0; number < 1_000_000; number += 7) if (!set.add(text(number))) known += 1;
    expect(known).toBe(Math.ceil(1_000_000 / 7));
  });

  it('is small when it is empty', () => {
    expect(new HashSet128().bytes).toBeLessThan(200_000);
  });
});
