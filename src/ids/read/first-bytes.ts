/** What files that are no text begin with. */
const firstBytes = {
  gzip: [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
  parquet: [0x50, 0x41, 0x52, 0x31],
  zip: [0x50, 0x4b, 0x03, 0x04],
} as const;

/** True when a file that begins with `head` is of that kind. */
export function startsAs(kind: keyof typeof firstBytes, head: Uint8Array): boolean {
  return firstBytes[kind].every((byte, index) => head[index] === byte);
}
