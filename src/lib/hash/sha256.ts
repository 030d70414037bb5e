import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** SHA-256 in lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** Size and SHA-256 of bytes that come in blocks. */
export async function factsOfBytes(
  blocks: AsyncIterable<Uint8Array>,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const block of blocks) {
    hash.update(block);
    bytes += block.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** A value as JSON with its checksum: any changed byte is noticed. */
export function checkedJson(value: object): Buffer {
  const text = JSON.stringify(value);
  return Buffer.from(`{"crc32":"${checksum(text)}","value":${text}}`);
}

/** The value; undefined where a byte is not as it was written. */
export function valueOfCheckedJson(bytes: Uint8Array): unknown {
  const [, sum, text = ''] = /^\{"crc32":"([0-9a-f]{8})","value":(.*)\}$/s.exec(Buffer.from(bytes).toString()) ?? [];
  return sum === checksum(text) ? (JSON.parse(text) as unknown) : undefined;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
