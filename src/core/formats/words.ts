/** Bytes, and the same bytes to be read in words. */
export interface Words {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** Bytes that are copied at a time, though fewer may count. */
export const strideBytes = 16;

/** Always a plain array: V8 reads one kind of array faster than arrays of two kinds. */
export function wordsOfBytes({ buffer, byteOffset, byteLength }: Uint8Array): Words {
  return { bytes: new Uint8Array(buffer, byteOffset, byteLength), view: new DataView(buffer, byteOffset, byteLength) };
}

/** Texts of a format, one after another, and where each begins and the last ends. */
export interface FormatTexts {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
}

export function formatTexts(texts: readonly string[]): FormatTexts {
  const starts = new Int32Array(texts.length + 1);
  for (const [index, text] of texts.entries()) starts[index + 1] = (starts[index] ?? 0) + Buffer.byteLength(text);
  return { bytes: Buffer.from(texts.join('')), starts };
}

/** Texts that are copied often: one after another, with bytes behind the last that may be copied with it. */
export interface FixedTexts {
  readonly words: Words;
  /** Where each begins, and where the last ends. */
  readonly starts: Int32Array;
}

export function fixedTexts(texts: readonly string[]): FixedTexts {
  const { bytes, starts } = formatTexts(texts);
  return { words: wordsOfBytes(Buffer.concat([bytes, Buffer.alloc(strideBytes)])), starts };
}
