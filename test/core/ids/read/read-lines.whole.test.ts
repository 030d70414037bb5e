import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HashSet128 } from '../../../../src/lib/hash/hash-set-128.ts';
import { markDuplicates } from '../../../../src/core/ids/prepare-inputs.ts';
import { readText } from '../../../../src/core/ids/read/read-ids.ts';
import { inPieces } from '../../../lib/in-pieces.ts';
import { idOf } from './id-files.ts';
import { entriesIn } from '../entries.ts';

const input = { name: 'ids.txt', path: '', format: 'lines' as const, compression: 'none' as const };

/** Few enough that they come again; of 43 and 44 characters, and shorter ones that begin with ones. */
const ids = Array.from({ length: 12 }, (_, number) => {
  const bytes = Buffer.from(bs58.decode(idOf(number)));
  if (number > 3) bytes[0] = [1, 3, 4, 60, 200, 255, 0, 0][number - 4] ?? 0;
  return bs58.encode(number < 10 ? bytes : bytes.fill(0, 0, number - 8));
});
const id = fc.constantFrom(...ids);
const odd = fc
  .tuple(id, fc.constantFrom('0', 'z', '\t', '\0', '\u000B', ' ', 'é', '"', ''), fc.nat(44))
  .map(([text, other, at]) => text.slice(0, at) + other + text.slice(at + 1));
const around = fc
  .tuple(fc.constantFrom('', '\t', ' ', '"'), id, fc.constantFrom('\t', '\t\t', ' ', '"', ',', '\0', '\u000B', 'x'))
  .map(([before, text, after]) => before + text + after);
const lines = fc.array(fc.oneof({ weight: 4, arbitrary: id }, odd, around, fc.constantFrom('', 'x')), {
  maxLength: 40,
});
const breaks = fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: 1, maxLength: 5 });
const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 });

/** Reads each line by itself with bs58, and remembers ids in a Set. Blanks and quotes around are taken away. */
function oracle(texts: readonly string[]): string[] {
  const seen = new Set<string>();
  return texts.flatMap((text, index) => {
    const cleaned = text.replace(/^[\s"]+|[\s",]+$/g, '');
    if (cleaned === '') return [];
    const state = bs58.decodeUnsafe(cleaned)?.length !== 32 ? 'invalid' : seen.has(cleaned) ? 'duplicate' : 'valid';
    if (state === 'valid') seen.add(cleaned);
    return [`${index + 1} ${state} ${cleaned}`];
  });
}

describe('readText of lines', () => {
  it('finds and tells apart what bs58 and a Set do, whatever ends the lines and however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(lines, breaks, sizes, async (texts, ends, pieces) => {
        const text = texts.map((line, index) => line + (ends[index % ends.length] ?? '\n')).join('');
        // A CR, no line, and an LF would be one break.
        fc.pre(!texts.some((line, index) => line === '' && /\r$/.test(ends[(index - 1) % ends.length] ?? '')));
        const reads = async function* (): AsyncGenerator<Uint8Array> {
          yield* inPieces(Buffer.from(text), pieces);
        };
        const read: string[] = [];
        for await (const entries of markDuplicates(
          readText(reads(), { input, source: 0, form: { kind: 'lines' } }),
          new HashSet128(),
        )) {
          for (const { line, state, text: found } of entriesIn(entries)) read.push(`${line} ${state} ${found}`);
        }
        expect(read).toEqual(oracle(texts));
      }),
      { seed: 49, numRuns: 1000 },
    );
  });
});
