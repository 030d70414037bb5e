/** The text of the bytes from `start` up to `end`. */
export function utf8Text(bytes: Uint8Array, start: number, end: number): string {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString('utf8', start, end);
}

/** Whether bytes hold others at a place. */
export function holdsAt(bytes: Uint8Array, at: number, others: Uint8Array): boolean {
  // From the end: texts at one place often begin alike.
  for (let index = others.length - 1; index >= 0; index -= 1) if (bytes[at + index] !== others[index]) return false;
  return true;
}
