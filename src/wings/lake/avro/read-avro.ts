import { ExportError } from '../../../lib/export-error.ts';
import { type AvroFile, type AvroRecord, type AvroSchema, type AvroValue, magic, syncBytes } from './avro-schema.ts';
import { isOptional } from './write-avro.ts';

/** Reads a file that `writeAvro` wrote. @param path names it in messages. @throws {ExportError} `damaged` */
export function readAvro(bytes: Uint8Array, path: string): AvroFile {
  try {
    return new AvroReader(bytes).file();
  } catch (error) {
    throw new ExportError('damaged', `${path} is damaged: it is no Avro file of this program`, { cause: error });
  }
}

class AvroReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  file(): AvroFile {
    if (!magic.equals(this.#take(magic.length))) throw new Error('it does not begin as Avro');
    const metadata: Record<string, string> = {};
    for (let entries = this.#count(); entries > 0; entries = this.#count()) {
      for (let entry = 0; entry < entries; entry += 1) {
        const key = this.#value('string') as string;
        metadata[key] = Buffer.from(this.#value('bytes') as Uint8Array).toString();
      }
    }
    if (metadata['avro.codec'] !== 'null') throw new Error('it is compressed');
    const schema = JSON.parse(metadata['avro.schema'] ?? '') as AvroRecord;
    const sync = this.#take(syncBytes);
    const records: AvroFile['records'][number][] = [];
    while (this.#at < this.#bytes.length) {
      const count = this.#count();
      this.#count();
      for (let record = 0; record < count; record += 1)
        records.push(this.#value(schema) as AvroFile['records'][number]);
      if (!sync.equals(this.#take(syncBytes))) throw new Error('a block does not end with the marker');
    }
    return { metadata, records };
  }

  #take(length: number): Buffer {
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    if (length < 0 || taken.length < length) throw new Error('it ends early');
    this.#at += length;
    return taken;
  }

  #long(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#take(1)[0] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
    }
  }

  #count(): number {
    return Number(this.#long());
  }

  #value(schema: AvroSchema): AvroValue {
    if (isOptional(schema)) return this.#count() === 0 ? null : this.#value(schema[1]);
    if (schema === 'boolean') return this.#take(1)[0] === 1;
    if (schema === 'string') return this.#take(this.#count()).toString();
    if (schema === 'bytes') return this.#take(this.#count());
    if (typeof schema === 'string') return safe(this.#long());
    if (schema.type === 'record')
      return Object.fromEntries(schema.fields.map(({ name, type }) => [name, this.#value(type)]));
    const items: AvroValue[] = [];
    for (let count = this.#count(); count > 0; count = this.#count()) {
      for (let item = 0; item < count; item += 1) items.push(this.#value(schema.items));
    }
    return items;
  }
}

function safe(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
