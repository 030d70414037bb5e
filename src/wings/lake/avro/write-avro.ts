import { createHash } from 'node:crypto';
import { type AvroFile, type AvroRecord, type AvroSchema, type AvroValue, magic, syncBytes } from './avro-schema.ts';

/**
 * An object container file (Avro 1.12, "Object Container Files"), not compressed. Equal records make equal bytes: the marker between blocks, which
 * the specification draws at random, is a hash of what it separates.
 */
export function writeAvro(schema: AvroRecord, { metadata, records }: AvroFile): Buffer {
  const body = new AvroBytes();
  for (const record of records) body.value(schema, record);
  const block = body.bytes();
  const entries = Object.entries({ ...metadata, 'avro.codec': 'null', 'avro.schema': JSON.stringify(schema) });
  const head = new AvroBytes();
  head.raw(magic);
  head.long(entries.length);
  for (const [key, text] of entries) {
    head.value('string', key);
    head.value('bytes', Buffer.from(text));
  }
  head.long(0);
  const header = head.bytes();
  const sync = createHash('sha256').update(header).update(block).digest().subarray(0, syncBytes);
  if (records.length === 0) return Buffer.concat([header, sync]);
  const count = new AvroBytes();
  count.long(records.length);
  count.long(block.length);
  return Buffer.concat([header, sync, count.bytes(), block, sync]);
}

class AvroBytes {
  readonly #pieces: Uint8Array[] = [];

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  raw(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
  }

  /** Zigzag, seven bits a byte, the lowest first. */
  long(value: number | bigint): void {
    const signed = BigInt(value);
    let rest = BigInt.asUintN(64, (signed << 1n) ^ (signed >> 63n));
    const bytes: number[] = [];
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    this.raw(Uint8Array.from(bytes));
  }

  value(schema: AvroSchema, value: AvroValue | undefined): void {
    if (isOptional(schema)) {
      this.long(value === null || value === undefined ? 0 : 1);
      if (value !== null && value !== undefined) this.value(schema[1], value);
      return;
    }
    if (typeof schema === 'string') this.#primitive(schema, value);
    else if (schema.type === 'array') this.#array(schema.items, value);
    else {
      const members = value as { readonly [name: string]: AvroValue };
      for (const { name, type } of schema.fields) this.value(type, members[name]);
    }
  }

  #primitive(type: 'int' | 'long' | 'string' | 'bytes' | 'boolean', value: AvroValue | undefined): void {
    if (type === 'boolean') this.raw(Uint8Array.of(value === true ? 1 : 0));
    else if (type === 'string' || type === 'bytes') {
      const bytes = typeof value === 'string' ? Buffer.from(value) : (value as Uint8Array);
      this.long(bytes.length);
      this.raw(bytes);
    } else this.long(value as number | bigint);
  }

  #array(items: AvroSchema, value: AvroValue | undefined): void {
    const all = value as readonly AvroValue[];
    if (all.length > 0) {
      this.long(all.length);
      for (const item of all) this.value(items, item);
    }
    this.long(0);
  }
}

/** Whether a value may be absent. */
export function isOptional(schema: AvroSchema): schema is Extract<AvroSchema, readonly unknown[]> {
  return Array.isArray(schema);
}
