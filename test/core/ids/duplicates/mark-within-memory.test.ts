import { createHash } from 'node:crypto';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { EntryBlock, IdEntry } from '../../../../src/core/ids/entries.ts';
import { markWithinMemory } from '../../../../src/core/ids/duplicates/mark-within-memory.ts';
import { diskFileStore } from '../../../../src/places/files/file-store.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { entriesIn, inColumns } from '../entries.ts';

/** Hashes whose first word is zero are among them. */
function hashesOf(entries: readonly IdEntry[]): Uint32Array {
  const valid = entries.filter(({ state }) => state === 'valid');
  return Uint32Array.from(
    valid.flatMap(({ text }) => {
      const hash = createHash('sha256').update(text).digest();
      return [text === 'id0' ? 0 : hash.readUInt32LE(0), ...[4, 8, 12].map((at) => hash.readUInt32LE(at))];
    }),
  );
}

async function marked(entries: readonly IdEntry[], size: number, mostBytes: number): Promise<string> {
  const read = async function* (): AsyncGenerator<EntryBlock> {
    for (let at = 0; at < entries.length; at += size) {
      const some = entries.slice(at, at + size);
      yield { entries: inColumns(some), hashes: hashesOf(some) };
    }
  };
  const folder = join(await tempFolder(), 'spill');
  const steps: string[] = [];
  const limits = { files: diskFileStore, folder, mostBytes, stop: new AbortController().signal };
  let states = '';
  for await (const block of markWithinMemory(read, { ...limits, onSpill: (step) => steps.push(step) }))
    states += entriesIn(block)
      .map(({ state }) => state[0])
      .join('');
  expect(await diskFileStore.list(folder)).toEqual([]);
  expect(steps).toEqual(mostBytes === 0 && entries.length > 0 ? ['begun', 'read'] : []);
  return states;
}

it('duplicates are the same in memory and on disk', async () => {
  const entry = fc.record({ id: fc.nat(40), isValid: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 120 }), fc.integer({ min: 1, max: 50 }), async (drawn, size) => {
      const entries = drawn.map(({ id, isValid }, index) => ({
        text: `id${id}`,
        source: 0,
        line: index + 1,
        reason: '',
        state: isValid ? ('valid' as const) : ('invalid' as const),
      }));
      const known = new Set<string>();
      const expected = entries.map(({ text, state }) => {
        if (state === 'invalid') return 'i';
        const isKnown = known.has(text);
        known.add(text);
        return isKnown ? 'd' : 'v';
      });
      expect(await marked(entries, size, Number.POSITIVE_INFINITY)).toBe(expected.join(''));
      expect(await marked(entries, size, 0)).toBe(expected.join(''));
    }),
    { seed: 7, numRuns: 12 },
  );
}, 60_000);
