import fc from 'fast-check';
import type { Cell, Column, ColumnType, Row } from '../../../src/core/records/table.ts';
import { stringifyJson } from '../../../src/lib/json/json.ts';
import { anyJson, anyString } from '../../core/records/any-json.ts';
import { hostileCells } from './hostile-rows.ts';

const short = (type: ColumnType): fc.Arbitrary<Cell> =>
  fc.constantFrom(...hostileCells[type].filter((cell) => typeof cell !== 'string' || cell.length < 1000));

function safeInteger(value: bigint): Cell {
  const near = Number(value);
  return Number.isSafeInteger(near) ? near : value;
}

/** Any cell of a type, null apart. */
const anyCell: Readonly<Record<ColumnType, fc.Arbitrary<Cell>>> = {
  string: fc.oneof(anyString, short('string')),
  boolean: fc.boolean(),
  int64: fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(safeInteger), short('int64')),
  double: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), short('double')),
  decimal: fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(safeInteger), short('decimal')),
  timestamp: fc.oneof(fc.maxSafeInteger(), short('timestamp')),
  json: fc.oneof(
    anyJson.map(stringifyJson).filter((text) => text !== 'null'),
    short('json'),
  ),
};

/** Any rows of a table, nulls among them where the column allows it. */
export function anyRows(columns: readonly Column[], maxLength: number): fc.Arbitrary<Row[]> {
  const cells = columns.map(({ type, nullable }) => (nullable ? fc.option(anyCell[type]) : anyCell[type]));
  return fc.array(fc.tuple(...cells), { maxLength });
}
