import fc from 'fast-check';

/**
 * Any code point, half of a surrogate pair too. To be avoided: the units `binary` and `grapheme` of fast-check, its `stringMatching`
 * and `webUrl`. They make a map of all code points and never free it: 4 s, and 100 MB that every later major GC marks.
 */
export const anyCharacter = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));

/** A text of any characters. */
export const anyText = fc.string({ unit: anyCharacter });

/** A text of some characters. */
export function textFrom(characters: string, constraints: fc.StringConstraints): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: fc.constantFrom(...Array.from(characters)) });
}

/** What people see as one character, which several code points may make; no halves. */
export const anyGrapheme = fc.oneof(
  anyCharacter.map((character) => character.toWellFormed()),
  fc.constantFrom('e\u0301', '\u{1f1eb}\u{1f1f7}', '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}', '\u1112\u1161\u11ab'),
);
