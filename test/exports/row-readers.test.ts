import fc from 'fast-check';
import { expect, it } from 'vitest';
import { wholeLines } from '../../src/exports/row-readers.ts';

/** Pieces of a text in one memory, which is filled again for each. */
function* piecesOf(text: string, cuts: readonly number[]): Generator<Uint8Array, void, void> {
  const memory = Buffer.alloc(text.length + 1);
  const ends = [...cuts.map((cut) => cut % (text.length + 1)), text.length].sort((a, b) => a - b);
  let start = 0;
  for (const end of ends) {
    memory.fill('~');
    memory.write(text.slice(start, end), 'latin1');
    yield memory.subarray(0, end - start);
    start = end;
  }
}

it('cuts bytes behind ends of lines, whatever pieces they come in', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'bc', '\n', '\n\n', 'long '.repeat(4)), { maxLength: 30 }),
      fc.array(fc.nat(), { maxLength: 8 }),
      async (words, cuts) => {
        const text = words.join('');
        let found = '';
        for await (const lines of wholeLines(piecesOf(text, cuts))) {
          expect(lines.toString('latin1')).toMatch(/\n$/);
          found += lines.toString('latin1');
        }
        expect(found).toBe(text === '' || text.endsWith('\n') ? text : `${text}\n`);
      },
    ),
    { seed: 11, numRuns: 500 },
  );
});
