import { crc32 } from 'node:zlib';

/** The keys of the whole entries that a journal's bytes begin with. */
export function journalKeys(bytes: Buffer): string[] {
  const keys: string[] = [];
  for (let at = 0; at + 40 <= bytes.length; ) {
    const end = at + 40 + bytes.readUInt32LE(at);
    if (end > bytes.length || crc32(bytes.subarray(at + 8, end)) !== bytes.readUInt32LE(at + 4)) break;
    keys.push(bytes.toString('hex', at + 8, at + 40));
    at = end;
  }
  return keys;
}
