import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assetsTable } from '../../../../src/core/records/columns.ts';
import type { Column, ColumnType } from '../../../../src/core/records/table.ts';
import { recordRowsOf } from '../../../../src/exports/row-batch.ts';
import { localDisk } from '../../../../src/places/files/disk.ts';
import { SortedRecords, type TimedRecord, sortKey } from '../../../../src/wings/repair/rebuild/sorted-records.ts';
import { anyText } from '../../../support/any-text.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

function column(type: ColumnType): Column {
  return { ...assetsTable.columns[0], type } as Column;
}

/** Cells of a type, and the order of two that are not null. */
const kinds: readonly { type: ColumnType; cells: fc.Arbitrary<string>; compare: (a: string, b: string) => number }[] = [
  {
    type: 'string',
    cells: fc.oneof(anyText, fc.string({ unit: fc.constantFrom('\0', '\u0001', 'a', 'ÿ') })),
    compare: (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)),
  },
  {
    type: 'boolean',
    cells: fc.boolean().map(String),
    compare: (a, b) => Number(a === 'true') - Number(b === 'true'),
  },
  {
    type: 'double',
    cells: fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    compare: (a, b) => Number(a) - Number(b),
  },
  ...(['int64', 'decimal', 'timestamp'] as const).map((type) => ({
    type,
    cells: fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }), fc.bigInt({ min: -300n, max: 300n })).map(String),
    compare: (a: string, b: string) => (BigInt(a) < BigInt(b) ? -1 : Number(BigInt(a) > BigInt(b))),
  })),
];

describe('the bytes by which a row is sorted', () => {
  it.each(kinds)('are in the order of the cells, nulls last: $type', ({ type, cells, compare }) => {
    const cell = fc.option(cells, { freq: 10 });
    const ordered = (a: string | null, b: string | null): number => {
      if (a === null || b === null) return Number(a === null) - Number(b === null);
      return Math.sign(compare(a, b));
    };
    fc.assert(
      fc.property(fc.tuple(cell, cell), fc.tuple(cell, cell), (one, other) => {
        const columns = [column(type), column(type)];
        const expected = ordered(one[0], other[0]) || ordered(one[1], other[1]);
        expect(Buffer.compare(sortKey(columns, one), sortKey(columns, other))).toBe(expected);
      }),
      { numRuns: 1000 },
    );
  });
});

function recordOf(id: number, name: string): TimedRecord {
  const record = { id: `id-${String(id).padStart(4, '0')}`, content: { metadata: { name } } };
  return { record: Buffer.from(JSON.stringify(record)), timeUs: 1.7e15 + id };
}

/** Adds records some at a time, and takes them the same way. */
async function sorted(records: readonly TimedRecord[], memoryBytes: number, step: number): Promise<string[]> {
  const order = { columns: ['content_metadata_name', 'id'], memoryBytes };
  const sorting = await SortedRecords.open(order, localDisk, await tempFolder());
  onTestFinished(() => sorting.close());
  for (let at = 0; at < records.length; at += step) {
    const some = records.slice(at, at + step);
    const rows = recordRowsOf(some.map(({ record }) => record));
    const places = some.map((_, place) => place);
    await sorting.add(some, rows.rows(assetsTable, places));
    rows.release();
  }
  const taken: string[] = [];
  for (let some = await sorting.take(step); some.length > 0; some = await sorting.take(step))
    taken.push(...some.map(textOf));
  return taken;
}

/** Bytes would be compared one by one. */
function textOf({ record, timeUs }: TimedRecord): string {
  return `${timeUs} ${record.toString()}`;
}

describe('records', () => {
  it.each([
    ['no more than memory holds', 1e9],
    ['many runs', 20_000],
    ['a run for each record', 1],
  ])('are taken in their order, each once: %s', async (_, memoryBytes) => {
    const names = ['b', 'a', 'a\0', '', 'ä', 'x'.repeat(100_000)];
    const records = Array.from({ length: 120 }, (__, n) => recordOf((n * 77) % 120, names[n % names.length] ?? ''));
    const nameOf = ({ record }: TimedRecord): string => {
      const { content } = JSON.parse(record.toString()) as { content: { metadata: { name: string } } };
      return content.metadata.name;
    };
    const expected = records.toSorted(
      (one, other) => Buffer.compare(Buffer.from(nameOf(one)), Buffer.from(nameOf(other))) || one.timeUs - other.timeUs,
    );
    expect(await sorted(records, memoryBytes, 7)).toEqual(expected.map(textOf));
  });

  it('are none where none was added', async () => {
    expect(await sorted([], 1e9, 7)).toEqual([]);
  });
});
