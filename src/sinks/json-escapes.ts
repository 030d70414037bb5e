import { type FixedText, fixedText } from './words.ts';

/** Bytes of an escape, at most: `\u0001`. */
export const maxEscapeBytes = 6;

/** What stands for a byte inside a JSON string; undefined where the byte itself does. RFC 8259, section 7. */
export const jsonEscapes: readonly (FixedText | undefined)[] = Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return undefined;
  const character = String.fromCharCode(byte);
  const escaped = JSON.stringify(character).slice(1, -1);
  return escaped === character ? undefined : fixedText(escaped);
});
