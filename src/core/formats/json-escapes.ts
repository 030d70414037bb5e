import type { GrowingBytes } from './growing-bytes.ts';
import { fixedTexts, type Words } from './block-text.ts';

/** Bytes of an escape, at most: `\u0001`. */
export const maxEscapeBytes = 6;

/** What stands for each byte inside a JSON string, empty where the byte itself does. RFC 8259, section 7. */
const jsonEscapes = fixedTexts(
  Array.from({ length: 256 }, (_, byte) => {
    const character = String.fromCharCode(byte);
    const escaped = JSON.stringify(character).slice(1, -1);
    return escaped === character ? '' : escaped;
  }),
);

/** Whether a byte has an escape. */
const isEscaped = Uint8Array.from({ length: 256 }, (_, byte) => {
  return jsonEscapes.starts[byte] === jsonEscapes.starts[byte + 1] ? 0 : 1;
});

/** Adds a text as it stands inside a JSON string. */
export function addEscaped(target: GrowingBytes, words: Words, start: number, length: number): void {
  const end = start + length;
  let from = start;
  for (let at = start; at < end; at += 1) {
    const byte = words.bytes[at] ?? 0;
    if (isEscaped[byte] === 0) continue;
    target.copy(words, from, at - from);
    target.fixed(jsonEscapes, byte);
    from = at + 1;
  }
  target.copy(words, from, end - from);
}
