import fc from 'fast-check';
import { avroMetadata, avroRead } from 'icebird';
import { describe, expect, it } from 'vitest';
import { ExportError } from '../../../src/lib/export-error.ts';
import type { AvroRecord } from '../../../src/wings/lake/avro/avro-schema.ts';
import { readAvro } from '../../../src/wings/lake/avro/read-avro.ts';
import { writeAvro } from '../../../src/wings/lake/avro/write-avro.ts';
import { anyGrapheme } from '../../support/any-text.ts';

const schema: AvroRecord = {
  type: 'record',
  name: 'row',
  fields: [
    { name: 'small', type: 'int', 'field-id': 1 },
    { name: 'large', type: 'long', 'field-id': 2 },
    { name: 'text', type: ['null', 'string'], default: null, 'field-id': 3 },
    { name: 'bytes', type: 'bytes', 'field-id': 4 },
    { name: 'isSet', type: 'boolean', 'field-id': 5 },
    { name: 'inner', type: { type: 'record', name: 'empty', fields: [] }, 'field-id': 6 },
    { name: 'list', type: { type: 'array', items: 'long', 'element-id': 8 }, 'field-id': 7 },
  ],
};

const rows = fc.array(
  fc.record({
    small: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    large: fc.oneof(
      fc.maxSafeInteger(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).filter((value) => !Number.isSafeInteger(Number(value))),
    ),
    text: fc.option(fc.string({ unit: anyGrapheme })),
    bytes: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    isSet: fc.boolean(),
    inner: fc.constant({}),
    list: fc.array(fc.maxSafeInteger()),
  }),
);

describe('an Avro file', () => {
  it('is read back as it was written', () => {
    fc.assert(
      fc.property(rows, (records) => {
        const bytes = writeAvro(schema, { metadata: { content: 'data' }, records });
        const read = readAvro(bytes, 'file.avro');
        expect(read.records).toEqual(records);
        expect(read.metadata['content']).toBe('data');
      }),
      { numRuns: 300, seed: 7 },
    );
  });

  it('has equal bytes for equal records', () => {
    const file = { metadata: { a: 'b' }, records: [] };
    expect(writeAvro(schema, file)).toEqual(writeAvro(schema, file));
  });

  it('is read by another library', () => {
    const records = [
      { small: -7, large: 2 ** 40, text: 'ü', bytes: Buffer.of(1, 2), isSet: true, inner: {}, list: [1, -64, 64] },
      { small: 8192, large: -1, text: null, bytes: Buffer.of(), isSet: false, inner: {}, list: [] },
    ];
    const bytes = writeAvro(schema, { metadata: { content: 'data' }, records });
    const reader = { view: new DataView(new Uint8Array(bytes).buffer), offset: 0 };
    const { metadata, syncMarker } = avroMetadata(reader);
    const read = avroRead({ reader, metadata, syncMarker });
    expect(metadata['content']).toBe('data');
    expect(read).toMatchObject([
      { small: -7, large: BigInt(2 ** 40), text: 'ü', isSet: true, list: [1n, -64n, 64n] },
      { small: 8192, large: -1n, isSet: false, list: [] },
    ]);
  });

  it('is refused as damaged where a byte is missing', () => {
    const records = [
      { small: 1, large: 2, text: 'a', bytes: Buffer.of(1), isSet: true, inner: {}, list: [1] },
      { small: 1, large: 2, text: null, bytes: Buffer.of(1), isSet: true, inner: {}, list: [1] },
    ];
    const bytes = writeAvro(schema, { metadata: {}, records });
    const headerEnd = bytes.length - readAvroBodyLength(bytes);
    for (let length = 0; length < bytes.length; length += 1) {
      if (length === headerEnd) continue;
      expect(() => readAvro(bytes.subarray(0, length), 'a/file.avro'), String(length)).toThrow(ExportError);
    }
  });
});

/** Bytes behind the header: a file that ends with its header holds no record, and is whole. */
function readAvroBodyLength(bytes: Buffer): number {
  const sync = bytes.subarray(-16);
  return bytes.length - (bytes.indexOf(sync) + 16);
}
