import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { childRows } from '../../../src/core/records/flatten-asset.ts';
import { tableByName, tables } from '../../../src/core/records/columns.ts';
import type { Drift } from '../../../src/core/records/drift.ts';
import { isJsonObject, stringifyJson, type Json, type JsonObject } from '../../../src/lib/json/json.ts';
import type { Cell, Row, Table } from '../../../src/core/records/table.ts';
import { hasRealRecords, parseObject, realRecordTexts } from './any-json.ts';
import { anyRecord } from './any-record.ts';

function table(name: string): Table {
  const found = tableByName(name);
  if (found === undefined) throw new Error(`no table ${name}`);
  return found;
}

/** The cells of each row that are not null, but for asset_id and position, and the drift as `kind path`. */
function children(name: string, text: string): { rows: Record<string, Cell>[]; drift: string[] } {
  const drift: Drift[] = [];
  const rows = childRows(table(name), parseObject(text), drift).map((row, position) => {
    expect(row).toHaveLength(table(name).columns.length);
    expect(row[0]).toBe('A');
    if (name !== 'collections') expect(row[1]).toBe(position);
    const cells: Record<string, Cell> = {};
    for (const [index, column] of table(name).columns.entries()) {
      const cell = row[index] ?? null;
      if (cell !== null && index > 1) cells[column.name] = cell;
    }
    return cells;
  });
  return { rows, drift: drift.map(({ kind, path }) => `${kind} ${path}`) };
}

/** The list of a record that a child table is made of. */
function listOf(record: Json, { list = [] }: Table): Json {
  return list.reduce<Json>((value, name) => (isJsonObject(value) ? (value[name] ?? null) : null), record);
}

function cellOf(row: Row, { columns }: Table, name: string): Cell {
  return row[columns.findIndex((column) => column.name === name)] ?? null;
}

describe('childRows', () => {
  it('gives a row for each creator', () => {
    expect(
      children(
        'creators',
        '{"id":"A","creators":[{"address":"x","share":60,"verified":true},{"address":"y","share":4e1,"role":"z"}]}',
      ),
    ).toEqual({
      rows: [
        { address: 'x', share: 60, verified: true },
        { address: 'y', share: 40, extra: '{"role":"z"}' },
      ],
      drift: ['unknownField creators[].role'],
    });
  });

  it('gives a row for each authority, group and file', () => {
    expect(children('authorities', '{"id":"A","authorities":[{"address":"","scopes":["full"]}]}').rows).toEqual([
      { address: '', scopes: '["full"]' },
    ]);
    expect(
      children(
        'grouping',
        '{"id":"A","grouping":[{"group_key":"collection","group_value":null,"verified":false,"collection_metadata":{}}]}',
      ).rows,
    ).toEqual([{ group_key: 'collection', verified: false, collection_metadata: '{}' }]);
    expect(
      children('files', '{"id":"A","content":{"files":[{"uri":"a b","mime":"m","contexts":[1.0],"cdn_uri":"c"}]}}'),
    ).toEqual({
      rows: [{ uri: 'a b', mime: 'm', contexts: '[1.0]', extra: '{"cdn_uri":"c"}' }],
      drift: ['unknownField content.files[].cdn_uri'],
    });
  });

  // Promise, Nothing lost: `collections` has one row per group that is a collection, and loses nothing
  it('gives a row for each group that is a collection, at its place among the groups', () => {
    const groups = [
      '{"group_key":"creator","group_value":"x"}',
      '{"group_key":"collection","group_value":"C","verified":true,"collection_metadata":{"name":"N","symbol":"S","image":"I","description":"D"}}',
      '{"group_key":"collection","group_value":"E","rank":18446744073709551615}',
      '"collection"',
    ];
    const text = `{"id":"A","grouping":[${groups.join(',')}]}`;
    expect(children('collections', text)).toEqual({
      rows: [
        {
          address: 'C',
          name: 'N',
          symbol: 'S',
          image: 'I',
          verified: true,
          extra: '{"collection_metadata":{"description":"D"}}',
        },
        { address: 'E', extra: '{"rank":18446744073709551615}' },
      ],
      drift: [],
    });
    expect(childRows(table('collections'), parseObject(text)).map((row) => row[1])).toEqual([1, 2]);
  });

  it('keeps what does not fit a collection in extra, and counts it', () => {
    expect(
      children(
        'collections',
        '{"id":"A","grouping":[{"group_key":"collection","group_value":7,"verified":"no","collection_metadata":[]},{"group_key":"collection","collection_metadata":{"name":1.0}},{"group_key":"collection","collection_metadata":{}}]}',
      ),
    ).toEqual({
      rows: [
        { extra: '{"group_value":7,"verified":"no","collection_metadata":[]}' },
        { extra: '{"collection_metadata":{"name":1.0}}' },
        { extra: '{"collection_metadata":{}}' },
      ],
      drift: [
        'misfit grouping[].group_value',
        'misfit grouping[].verified',
        'misfit grouping[].collection_metadata',
        'misfit grouping[].collection_metadata.name',
      ],
    });
  });

  it('gives the text and the type of each attribute', () => {
    const values = ['"a"', '1.50', '18446744073709551615', 'true', 'null', '{"x":1.0}', '[]', '""'];
    const list = values.map((value) => `{"trait_type":"t","value":${value}}`).join(',');
    const { rows } = children(
      'attributes',
      `{"id":"A","content":{"metadata":{"attributes":[${list},{"trait_type":"t"}]}}}`,
    );
    expect(rows.map(({ value, value_type }) => [value ?? null, value_type ?? null])).toEqual([
      ['a', 'string'],
      ['1.50', 'number'],
      ['18446744073709551615', 'number'],
      ['true', 'boolean'],
      [null, 'null'],
      ['{"x":1.0}', 'object'],
      ['[]', 'array'],
      ['', 'string'],
      [null, null],
    ]);
  });

  it('gives a row for each member where attributes are an object', () => {
    expect(
      children('attributes', '{"id":"A","content":{"metadata":{"attributes":{"tier":1,"__proto__":"x"}}}}'),
    ).toEqual({
      rows: [
        { trait_type: 'tier', value: '1', value_type: 'number' },
        { trait_type: '__proto__', value: 'x', value_type: 'string' },
      ],
      drift: [],
    });
  });

  it('keeps elements that are no objects whole in extra, and tells null from {}', () => {
    expect(children('creators', '{"id":"A","creators":["x",null,{},[1.0],{"share":"60"}]}')).toEqual({
      rows: [{ extra: '"x"' }, {}, { extra: '{}' }, { extra: '[1.0]' }, { extra: '{"share":"60"}' }],
      drift: ['misfit creators[]', 'misfit creators[]', 'misfit creators[].share'],
    });
  });

  it('gives no rows where there is no list', () => {
    for (const text of [
      '{"id":"A"}',
      '{"id":"A","content":null}',
      '{"id":"A","content":5,"creators":null}',
      '{"id":"A","creators":[]}',
    ]) {
      expect(children('creators', text)).toEqual({ rows: [], drift: [] });
      expect(children('files', text)).toEqual({ rows: [], drift: [] });
    }
    expect(children('creators', '{"id":"A","creators":{"address":"x"}}')).toEqual({
      rows: [],
      drift: ['misfit creators'],
    });
  });

  it('gives as many rows as the list has elements, and loses none of an element', () => {
    fc.assert(fc.property(anyRecord, losesNothing), { seed: 7, numRuns: 500 });
  });

  it.skipIf(!hasRealRecords)('loses none of an element of a real record', () => {
    for (const text of realRecordTexts()) losesNothing(parseObject(text));
  });
});

/** Holds the rows of every list of a record to its elements. */
function losesNothing(record: Json): void {
  if (!isJsonObject(record)) throw new Error('no record');
  for (const child of tables.slice(1)) {
    const list = listOf(record, child);
    const rows = childRows(child, record);
    if (!Array.isArray(list)) continue;
    const { where } = child;
    const positions = [...list.keys()].filter(
      (at) => where === undefined || (isJsonObject(list[at]) && list[at][where.member] === where.value),
    );
    expect(rows.map((row) => row[1])).toEqual(positions);
    for (const [at, position] of positions.entries()) {
      const element = list[position] ?? null;
      const row = rows[at] ?? [];
      if (where !== undefined) {
        expect(membersOf(collectionOf(row, child))).toEqual(membersOf(element));
        continue;
      }
      const extra = cellOf(row, child, 'extra');
      if (!isJsonObject(element)) {
        expect(extra).toBe(element === null ? null : stringifyJson(element));
        continue;
      }
      for (const [name, value] of Object.entries(element)) {
        if (value === null) continue;
        const left = extra === null ? undefined : ownOf(String(extra), name);
        const cell = child.columns.some((column) => column.path[0] === name) ? cellOf(row, child, name) : null;
        expect((left === undefined) !== (cell === null)).toBe(true);
        if (left !== undefined) expect(stringifyJson(left)).toBe(stringifyJson(value));
        else if (typeof value === 'string') expect(cell === value || cell === stringifyJson(value)).toBe(true);
      }
    }
  }
}

/** The element that a row of `collections` was made from. */
function collectionOf(row: Row, child: Table): JsonObject {
  const extra = cellOf(row, child, 'extra');
  const element = extra === null ? {} : parseObject(String(extra));
  element.group_key = 'collection';
  for (const [index, { path }] of child.columns.entries()) {
    const [name = '', inner] = path;
    const cell = row[index] ?? null;
    if (name === '' || cell === null || typeof cell === 'bigint') continue;
    if (inner === undefined) element[name] = cell;
    else element[name] = { ...(element[name] as JsonObject | undefined), [inner]: cell };
  }
  return element;
}

/** The members of a group that are not null, by name. */
function membersOf(element: Json): [string, string][] {
  if (!isJsonObject(element)) throw new Error('no group');
  return Object.entries(element)
    .filter(([, value]) => value !== null)
    .map(([name, value]): [string, string] => [
      name,
      name === 'collection_metadata' && isJsonObject(value)
        ? JSON.stringify(
            Object.entries(value)
              .filter(([, inner]) => inner !== null)
              .map(([inner, member]) => [inner, stringifyJson(member)])
              .toSorted(),
          )
        : stringifyJson(value),
    ])
    .toSorted();
}

function ownOf(text: string, name: string): Json | undefined {
  const object = parseObject(text);
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
