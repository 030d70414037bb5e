import { alphabet, digitOf } from '../../../lib/asset-id.ts';

/**
 * Entries in few bytes: a file of frames, each of up to some thousands of entries.
 *
 * A frame is four numbers of 32 bits (entries, bytes of the notes as they lie there, bytes of the ids, bytes of the notes
 * unpacked), then the notes, deflated, then the ids: each digit of base58 takes six bits, so an id takes 33 bytes. zstd
 * in WebAssembly gives 32.4 bytes at 30 times the CPU (2,300 ns an id instead of 75).
 *
 * The notes are a byte an entry, then numbers and texts of the entries that need some:
 * - the lower bits are the length of an id above 31 characters, or `invalid`;
 * - `jumps`: its input or its line does not follow those of the entry before, and both stand there;
 * - `invalid`: its text and the reason stand there.
 */
export const packedHead = Buffer.from('AXIDS\u0001\n\u0000', 'latin1');

export const frameHeadBytes = 16;

/** Frames are closed at the first block at whose end they have so many entries. */
export const entriesPerFrame = 8192;

export const invalidNote = 15;
export const jumpNote = 16;

/** Digits are packed four to three bytes. */
export function packedBytes(characters: number): number {
  return Math.ceil(characters / 4) * 3;
}

/** Six bits for each of two characters, as a little-endian number. */
const twoDigitsOf = new Uint16Array(65_536);
for (const first of Buffer.from(alphabet)) {
  for (const second of Buffer.from(alphabet))
    twoDigitsOf[first | (second << 8)] = ((digitOf[first] ?? 0) << 6) | (digitOf[second] ?? 0);
}

/** Packs the characters from `start` up to `end`, and gives where the next go. */
export function packDigits(
  { texts, start, end }: { readonly texts: Uint8Array; readonly start: number; readonly end: number },
  out: Uint8Array,
  to: number,
): number {
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const first = (texts[at] ?? 0) | ((texts[at + 1] ?? 0) << 8);
    const second = (texts[at + 2] ?? 0) | ((texts[at + 3] ?? 0) << 8);
    const four = ((twoDigitsOf[first] ?? 0) << 12) | (twoDigitsOf[second] ?? 0);
    out[to] = four >>> 16;
    out[to + 1] = (four >>> 8) & 255;
    out[to + 2] = four & 255;
    to += 3;
  }
  if (at === end) return to;
  let four = 0;
  for (let place = 0; place < 4; place += 1) {
    four = (four << 6) | (at + place < end ? (digitOf[texts[at + place] ?? 0] ?? 0) : 0);
  }
  out[to] = four >>> 16;
  out[to + 1] = (four >>> 8) & 255;
  out[to + 2] = four & 255;
  return to + 3;
}

const characterOf = new Uint8Array(64);
for (const [digit, character] of Buffer.from(alphabet).entries()) characterOf[digit] = character;

/** Unpacks so many characters, and gives where the next are read. Up to three bytes behind them are written. */
export function unpackDigits(
  { packed, from, characters }: { readonly packed: Uint8Array; readonly from: number; readonly characters: number },
  texts: Uint8Array,
  to: number,
): number {
  let at = from;
  for (let done = 0; done < characters; done += 4) {
    const four = ((packed[at] ?? 0) << 16) | ((packed[at + 1] ?? 0) << 8) | (packed[at + 2] ?? 0);
    texts[to + done] = characterOf[four >>> 18] ?? 0;
    texts[to + done + 1] = characterOf[(four >>> 12) & 63] ?? 0;
    texts[to + done + 2] = characterOf[(four >>> 6) & 63] ?? 0;
    texts[to + done + 3] = characterOf[four & 63] ?? 0;
    at += 3;
  }
  return at;
}
