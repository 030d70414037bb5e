import { fixedTexts } from './words.ts';

/** Bytes of an escape, at most: `\u0001`. */
export const maxEscapeBytes = 6;

/** What stands for each byte inside a JSON string, empty where the byte itself does. RFC 8259, section 7. */
export const jsonEscapes = fixedTexts(
  Array.from({ length: 256 }, (_, byte) => {
    const character = String.fromCharCode(byte);
    const escaped = JSON.stringify(character).slice(1, -1);
    return escaped === character ? '' : escaped;
  }),
);

/** Whether a byte has an escape. */
export const isEscaped = Uint8Array.from({ length: 256 }, (_, byte) => {
  return jsonEscapes.starts[byte] === jsonEscapes.starts[byte + 1] ? 0 : 1;
});
