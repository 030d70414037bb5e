import { parquetMetadata } from 'hyparquet';
import { wasmMemory } from 'parquet-wasm';
import { describe, expect, it } from 'vitest';
import { assetsTable, changesOf, creatorsTable, fetchedAt, tables } from '../../../../src/core/records/columns.ts';
import { flattenAsset } from '../../../../src/core/records/flatten-asset.ts';
import { fieldsOf, type Column, type Row } from '../../../../src/core/records/table.ts';
import { blockOf } from '../../../../src/core/records/row-block.ts';
import { exportedAt } from '../../../../src/core/records/shape-table.ts';
import { parquetSink } from '../../../../src/core/formats/parquet/parquet-encoder.ts';
import { parseObject } from '../../records/any-json.ts';
import { encodeFile } from '../../../contract/formats/encoded-file.ts';
import { hostileRows, hostileTable } from '../../../contract/formats/hostile-rows.ts';
import { generatedId, generatedRecord } from '../../../../packages/practice-service/src/generated/generated-assets.ts';

const { columns } = assetsTable;
const some: Row[] = Array.from(
  { length: 500 },
  (_, n) => flattenAsset(parseObject(generatedRecord(generatedId(9, n)))).row,
);

function rowsOf(count: number): Row[] {
  return Array.from({ length: count }, (_, n) => some[n % some.length] ?? []);
}

function metadataOf(bytes: Buffer): ReturnType<typeof parquetMetadata> {
  return parquetMetadata(new Uint8Array(bytes).buffer);
}

/** What the footer says of the schema, as bytes would: order, types, names, repetition. */
async function schemaOf(rows: readonly Row[], of: readonly Column[]): Promise<string> {
  const { schema, created_by, key_value_metadata, version } = metadataOf(
    (await encodeFile('parquet', rows, { columns: of })).bytes,
  );
  return JSON.stringify({ schema, created_by, key_value_metadata, version });
}

/** WebAssembly memory only grows: what is freed is used again. */
function memoryBytes(): number {
  return (wasmMemory() as { readonly buffer: ArrayBuffer }).buffer.byteLength;
}

function column(name: string, type: Column['type'], nullable = true): Column {
  return { name, type, nullable, path: [], about: '' };
}

describe('the Parquet sink', () => {
  it('gives each column type its Parquet type', async () => {
    const { schema } = metadataOf(
      (await encodeFile('parquet', [], { columns: hostileTable.columns.slice(0, 8) })).bytes,
    );
    const types = schema
      .slice(1)
      .map(({ name, type, repetition_type, converted_type, precision, scale }) => [
        name,
        type,
        repetition_type,
        converted_type,
        ...(precision === undefined ? [] : [precision, scale]),
      ]);
    expect(types).toEqual([
      ['id', 'BYTE_ARRAY', 'REQUIRED', 'UTF8'],
      ['a_string', 'BYTE_ARRAY', 'OPTIONAL', 'UTF8'],
      ['a_boolean', 'BOOLEAN', 'OPTIONAL', undefined],
      ['a_int64', 'INT64', 'OPTIONAL', undefined],
      ['a_double', 'DOUBLE', 'OPTIONAL', undefined],
      ['a_decimal', 'FIXED_LEN_BYTE_ARRAY', 'OPTIONAL', 'DECIMAL', 20, 0],
      ['a_json', 'BYTE_ARRAY', 'OPTIONAL', 'UTF8'],
      ['a_timestamp', 'INT64', 'OPTIONAL', 'TIMESTAMP_MICROS'],
    ]);
  });

  it.each([
    ...tables.map(({ name, columns: own }) => [name, [...own, exportedAt]] as const),
    ['changes', changesOf([...assetsTable.columns, fetchedAt]).columns] as const,
  ])('carries all field ids of %s in its footer', async (_, own) => {
    const { schema } = metadataOf((await encodeFile('parquet', [], { columns: own })).bytes);
    const expected = fieldsOf({ columns: own }).map(({ id, column: { name } }) => [name, id]);
    expect(schema.slice(1).map(({ name, field_id }) => [name, field_id])).toEqual(expected);
  });

  it('names its encoding in its footer', async () => {
    const { created_by } = metadataOf((await encodeFile('parquet', [], { columns })).bytes);
    expect(created_by).toBe('asset-export version 2');
  });

  it('has the same schema whatever the rows hold', async () => {
    const nulls = hostileTable.columns.map(({ nullable }) => (nullable ? null : ''));
    const expected = await schemaOf([], hostileTable.columns);
    expect(await schemaOf([nulls], hostileTable.columns)).toBe(expected);
    expect(await schemaOf(hostileRows(hostileTable.columns), hostileTable.columns)).toBe(expected);
  });

  it('cuts row groups by count, with V1 pages and the codec it was told', async () => {
    const { bytes } = await encodeFile('parquet', rowsOf(33_000), { columns, compression: 'snappy', split: [1000] });
    const metadata = metadataOf(bytes);
    expect(metadata.row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([32_768, 232]);
    const pages = metadata.row_groups.flatMap((group) =>
      group.columns.flatMap(({ meta_data: data }) => data?.encoding_stats ?? []),
    );
    expect(new Set(pages.map(({ page_type }) => page_type))).toEqual(new Set(['DATA_PAGE', 'DICTIONARY_PAGE']));
    expect(
      new Set(metadata.row_groups.flatMap((group) => group.columns.map(({ meta_data: data }) => data?.codec))),
    ).toEqual(new Set(['SNAPPY']));
  });

  it('leaves nothing of a file that failed to the next of its table', async () => {
    const { columns } = hostileTable;
    const rows = hostileRows(columns);
    const expected = await encodeFile('parquet', rows, { columns: [...columns] });
    const failing = await parquetSink.open(
      { write: () => Promise.reject(new Error('the disk is full')) },
      { columns, compression: 'none', escapeFormulas: false },
    );
    await failing.write(blockOf(columns, rows));
    await expect(failing.end()).rejects.toThrow('the disk is full');
    for (let file = 0; file < 3; file += 1) {
      const { bytes, notes } = await encodeFile('parquet', rows, { columns });
      expect(bytes.equals(expected.bytes)).toBe(true);
      expect(notes).toEqual(expected.notes);
    }
    expect(expected.notes.replacedSurrogates).toBeGreaterThan(0);
  });

  it('gives a row group away as it is full, before the next is', async () => {
    const given: number[] = [];
    const encoder = await parquetSink.open(
      { write: async ({ length }) => void given.push(length) },
      { columns: [column('text', 'string')], compression: 'none', escapeFormulas: false },
    );
    const texts = Array.from({ length: 36_864 }, (_, n) => [`${n} ${'long '.repeat(20)}`]);
    await encoder.write(blockOf([column('text', 'string')], texts));
    await new Promise(setImmediate);
    expect(given.length).toBeGreaterThan(0);
    await encoder.end();
  });

  it('ends a row group of wide rows early, so that memory stays bounded', async () => {
    // No two megabytes are alike, so that they do not compress away.
    const wide = Array.from({ length: 80 }, (_, n) => [
      generatedRecord(generatedId(2, n))
        .repeat(640)
        .slice(0, 1 << 20),
    ]);
    const { bytes } = await encodeFile('parquet', wide, { columns: [column('text', 'string')], compression: 'none' });
    const groups = metadataOf(bytes).row_groups.map(({ total_byte_size }) => Number(total_byte_size));
    expect(groups.length).toBeGreaterThan(1);
    for (const size of groups) expect(size).toBeLessThan(80 * 1024 * 1024);
  });

  it('keeps values that repeat in a dictionary, and ids without one', async () => {
    const { bytes } = await encodeFile('parquet', rowsOf(5000), { columns });
    const encodings = new Map(
      metadataOf(bytes).row_groups[0]?.columns.map(({ meta_data: data }) => [
        data?.path_in_schema.join('.'),
        data?.encodings,
      ]),
    );
    expect(encodings.get('royalty_royalty_model')).toContain('RLE_DICTIONARY');
    expect(encodings.get('id')).not.toContain('RLE_DICTIONARY');
  });

  it('refuses a null where the column has none', async () => {
    await expect(encodeFile('parquet', [[null, 0]], { columns: creatorsTable.columns.slice(0, 2) })).rejects.toThrow(
      'asset_id',
    );
  });

  it('gives its WebAssembly memory back: many files need no more than a few', async () => {
    const rows = rowsOf(1500);
    const encodeSome = async (files: number): Promise<number> => {
      for (let file = 0; file < files; file += 1) await encodeFile('parquet', rows, { columns, split: [400] });
      return memoryBytes();
    };
    const few = await encodeSome(5);
    expect(await encodeSome(15)).toBe(few);
  });

  it('gives it back too when the output fails', async () => {
    const rows = rowsOf(1500);
    const fail = async (files: number): Promise<number> => {
      for (let file = 0; file < files; file += 1) {
        const encoder = await parquetSink.open(
          { write: () => Promise.reject(new Error('full')) },
          { columns, compression: 'zstd', escapeFormulas: false },
        );
        await encoder.write(blockOf(columns, rows));
        await expect(encoder.end()).rejects.toThrow('full');
      }
      return memoryBytes();
    };
    const few = await fail(5);
    expect(await fail(15)).toBe(few);
  });
});
