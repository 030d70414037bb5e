import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HashSet128 } from '../../../src/lib/hash/hash-set-128.ts';
import type { EntryBlock, IdEntry } from '../../../src/core/ids/entries.ts';
import { markDuplicates } from '../../../src/core/ids/prepare-inputs.ts';
import { entriesIn, inColumns } from './entries.ts';

const entry = fc.record({
  text: fc.constantFrom('a', 'b', 'c', 'd'),
  source: fc.nat(1),
  line: fc.nat(9),
  state: fc.constantFrom('valid' as const, 'invalid' as const),
  reason: fc.constant(''),
});

/** Texts of one letter are their own hashes. */
function hashesOf(entries: readonly IdEntry[]): Uint32Array {
  const valid = entries.filter(({ state }) => state === 'valid');
  return Uint32Array.from(valid.flatMap(({ text }) => [1, text.charCodeAt(0), 0, 0]));
}

describe('markDuplicates', () => {
  it('marks every valid id except its first occurrence, and leaves all else as it was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(entry, { maxLength: 5 }), { maxLength: 5 }), async (blocks) => {
        const known = new Set<string>();
        const expected = blocks.map((block) =>
          block.map((each) => {
            const isRepeated = each.state === 'valid' && known.has(each.text);
            if (each.state === 'valid') known.add(each.text);
            return isRepeated ? { ...each, state: 'duplicate' } : { ...each };
          }),
        );
        const source = async function* (): AsyncGenerator<EntryBlock> {
          yield* blocks.map((block) => ({ entries: inColumns(block), hashes: hashesOf(block) }));
        };
        const marked: IdEntry[][] = [];
        for await (const block of markDuplicates(source(), new HashSet128())) marked.push(entriesIn(block));
        expect(marked).toEqual(expected);
      }),
      { seed: 42, numRuns: 500 },
    );
  });
});
