import fc from 'fast-check';
import { assetsTable } from '../../../src/core/records/columns.ts';
import { sameNumber } from '../../../src/core/records/flatten-asset.ts';
import {
  isJsonObject,
  stringifyJson,
  type Json,
  type JsonObject,
  setMember,
  ExactNumber,
  numberOf,
  numberText,
} from '../../../src/lib/json/json.ts';
import type { Column, ColumnType } from '../../../src/core/records/table.ts';
import { anyJson, anyString, numberTextOf } from './any-json.ts';
import { anyText } from '../../support/any-text.ts';

const fitting: Record<ColumnType, fc.Arbitrary<Json>> = {
  string: anyString,
  boolean: fc.boolean(),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => numberOf(String(value))),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => numberOf(numberText(value))),
  decimal: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => numberOf(String(value))),
  timestamp: anyJson,
  json: fc.array(fc.dictionary(anyString, anyJson, { maxKeys: 3 }), { maxLength: 3 }),
};

/** A column's value: mostly one that fits, else any number or any JSON. */
function valueFor(type: ColumnType): fc.Arbitrary<Json> {
  return fc.oneof(
    { weight: 6, arbitrary: fitting[type] },
    { weight: 1, arbitrary: numberTextOf.map(numberOf) },
    { weight: 1, arbitrary: anyJson },
  );
}

type Members = Record<string, fc.Arbitrary<Json>>;

/** An object with some of the members, and now and then others; or anything at all. */
function objectOf(members: Members): fc.Arbitrary<Json> {
  const object = fc
    .tuple(
      fc.record(members, { requiredKeys: [] }),
      fc.array(fc.tuple(anyString, anyJson), { maxLength: 2 }),
      fc.boolean(),
    )
    .map(([known, unknown, unknownFirst]) => {
      const result: JsonObject = {};
      const entries = Object.entries(known) as [string, Json][];
      for (const [name, value] of unknownFirst ? [...unknown, ...entries] : [...entries, ...unknown]) {
        setMember(result, name, value);
      }
      return result;
    });
  return fc.oneof({ weight: 12, arbitrary: object }, { weight: 1, arbitrary: anyJson });
}

const anyGroups = fc.array(
  objectOf({
    group_key: fc.oneof(fc.constantFrom('collection', 'creator'), anyJson),
    group_value: valueFor('string'),
    verified: valueFor('boolean'),
    collection_metadata: objectOf({
      name: valueFor('string'),
      symbol: valueFor('string'),
      image: anyText.map((text) => `https://host.example/${encodeURIComponent(text.toWellFormed())}`),
      description: anyString,
    }),
  }),
  { maxLength: 3 },
);

function valueOf({ name, type }: Column): fc.Arbitrary<Json> {
  return name === 'grouping' ? fc.oneof(anyGroups, valueFor(type)) : valueFor(type);
}

function membersBelow(path: readonly string[]): Members {
  const members: Members = {};
  for (const column of assetsTable.columns) {
    const name = column.path[path.length];
    if (name === undefined || path.some((step, at) => column.path[at] !== step)) continue;
    const isLeaf = column.path.length === path.length + 1;
    members[name] ??= isLeaf ? valueOf(column) : objectOf(membersBelow([...path, name]));
  }
  return members;
}

/** A record with any JSON anywhere and every column's kind of value in its place; only the id is sure. */
export const anyRecord: fc.Arbitrary<JsonObject> = fc
  .tuple(objectOf(membersBelow([])), anyString)
  .map(([record, id]) => ({ ...(isJsonObject(record) ? record : {}), id }));

const branches = new Set(
  assetsTable.columns.flatMap((column) =>
    column.path.slice(0, -1).map((_, depth) => column.path.slice(0, depth + 1).join('\0')),
  ),
);
const numberColumns = new Set(
  assetsTable.columns
    .filter((column) => ['int64', 'double', 'decimal'].includes(column.type))
    .map((column) => column.path.join('\0')),
);

/** Where two records differ, null members being absent and numbers of typed columns compared by value; or undefined. */
export function differenceOf(left: Json, right: Json, path: readonly string[] = []): string | undefined {
  const here = path.join('\0');
  if (isJsonObject(left) && isJsonObject(right) && (path.length === 0 || branches.has(here))) {
    for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const found = differenceOf(ownOf(left, name), ownOf(right, name), [...path, name]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isNumber(left) && isNumber(right) && numberColumns.has(here)) {
    return sameNumber(numberText(left), numberText(right)) ? undefined : here;
  }
  return stringifyJson(left) === stringifyJson(right) ? undefined : here;
}

function ownOf(object: JsonObject, name: string): Json {
  return Object.hasOwn(object, name) ? (object[name] ?? null) : null;
}

function isNumber(value: Json): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber;
}
