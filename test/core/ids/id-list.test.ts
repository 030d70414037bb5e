import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdList } from '../../../src/core/ids/id-list.ts';
import { idOf } from '../client/support/calls.ts';

const texts = fc.uniqueArray(fc.nat(60).map(idOf), { maxLength: 30 });

/** The ids as they lie in the bytes of a batch, with other texts between them. */
function scattered(ids: readonly string[]): IdList {
  const between = 'é not an id ';
  const spans: number[] = [];
  let end = 0;
  for (const id of ids) {
    end += Buffer.byteLength(between);
    spans.push(end, (end += id.length));
  }
  return new IdList(Buffer.from(ids.map((id) => between + id).join('')), Uint32Array.from(spans));
}

describe('a list of ids', () => {
  it('is the ids that it was made of, wherever they lie', () => {
    fc.assert(
      fc.property(texts, (ids) => {
        for (const list of [IdList.of(ids), scattered(ids)]) {
          expect([...list]).toEqual(ids);
          expect(list).toHaveLength(ids.length);
          expect(list.first).toBe(ids[0]);
          expect(list.toJson().toString()).toBe(JSON.stringify(ids));
        }
      }),
      { seed: 71 },
    );
  });

  it('gives the ids at places, in their order', () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(29)), (ids, wanted) => {
        const places = wanted.filter((place) => place < ids.length);
        expect([...scattered(ids).pick(Uint32Array.from(places))]).toEqual(places.map((place) => ids[place]));
      }),
      { seed: 72 },
    );
  });

  it('finds an id from a place on, and nothing else', () => {
    fc.assert(
      fc.property(texts, fc.nat(60), fc.nat(31), (ids, number, from) => {
        for (const text of [idOf(number), idOf(number).slice(0, -1), `${idOf(number)}1`, '']) {
          expect(scattered(ids).indexOf(text, from)).toBe(ids.indexOf(text, from));
        }
      }),
      { seed: 73 },
    );
  });

  it('tells whether a text in bytes is the id at a place', () => {
    const list = scattered([idOf(1), idOf(2)]);
    const bytes = Buffer.from(`"${idOf(2)}"`);
    const { length } = idOf(2);
    expect(list.isAt(1, bytes, 1, length)).toBe(true);
    expect(list.isAt(0, bytes, 1, length)).toBe(false);
    expect(list.isAt(1, bytes, 0, length)).toBe(false);
    expect(list.isAt(1, bytes, 1, length - 1)).toBe(false);
    expect(list.isAt(2, bytes, 1, 0)).toBe(false);
  });
});
