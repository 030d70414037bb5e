import { crc32 } from 'node:zlib';

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
