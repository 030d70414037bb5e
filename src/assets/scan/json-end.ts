const quote = 0x22;
const backslash = 0x5c;

/**
 * Where the JSON value ends that begins at `start`, however deep it is; -1 when the bytes end first. Only quotes and brackets
 * are looked at: whether it *is* a value, parsing it tells.
 */
export function jsonEnd(bytes: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) {
      at = closingQuote(bytes, at + 1);
      if (depth === 0) return at < bytes.length ? at + 1 : -1;
    } else if (byte === 0x7b || byte === 0x5b) depth += 1;
    else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
      if (depth <= 0) return depth === 0 ? at + 1 : at;
    } else if (depth === 0 && (byte === 0x2c || byte <= 0x20)) return at;
  }
  return -1;
}

/** The index of the quote that ends the string whose text begins at `start`; no less than the length where none does. */
export function closingQuote(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
