/** Bytes, and the same bytes to be read in words. */
export interface Words {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** Bytes that are copied at a time, though fewer may count. */
export const strideBytes = 16;

/** Always a plain array: V8 reads one kind of array faster than arrays of two kinds. */
export function wordsOf({ buffer, byteOffset, byteLength }: Uint8Array): Words {
  return { bytes: new Uint8Array(buffer, byteOffset, byteLength), view: new DataView(buffer, byteOffset, byteLength) };
}

/** A text that is copied often, and has bytes behind it that may be copied with it. */
export interface FixedText {
  readonly words: Words;
  readonly length: number;
}

export function fixedText(text: string): FixedText {
  const length = Buffer.byteLength(text);
  const bytes = new Uint8Array(length + strideBytes);
  Buffer.from(bytes.buffer).write(text);
  return { words: wordsOf(bytes), length };
}
