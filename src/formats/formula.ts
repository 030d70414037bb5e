/** First bytes of the characters below: 1 for a whole one, 2 for one of three bytes. */
const firstBytes = new Uint8Array(256);
for (const character of ['=', '+', '-', '@', '\t', '\r']) firstBytes[character.charCodeAt(0)] = 1;
firstBytes[0xef] = 2;

/** The full-width `＝`, `＋`, `－` and `＠`, without their first byte. */
const fullWidth = new Set([0xbc9d, 0xbc8b, 0xbc8d, 0xbca0]);

/**
 * Whether a spreadsheet may run a cell of text in UTF-8: the characters of OWASP's "CSV Injection" and the full-width forms of its
 * four signs, the same as csv-stringify's `escape_formulas`. Only strings are meant: a negative number is none.
 */
export function startsFormula(bytes: Uint8Array, start: number, length: number): boolean {
  if (length === 0) return false;
  const first = firstBytes[bytes[start] ?? 0] ?? 0;
  if (first === 2 && length >= 3) return fullWidth.has(((bytes[start + 1] ?? 0) << 8) | (bytes[start + 2] ?? 0));
  return first === 1;
}
