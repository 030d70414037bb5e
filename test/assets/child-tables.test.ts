import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { childRows } from '../../src/assets/child-tables.ts';
import { tableByName, tables } from '../../src/assets/columns.ts';
import type { Drift } from '../../src/assets/drift.ts';
import { isJsonObject, stringifyJson, type Json } from '../../src/assets/json.ts';
import type { Cell, Row, Table } from '../../src/assets/table.ts';
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
    expect(row.slice(0, 2)).toEqual(['A', position]);
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
    expect(rows).toHaveLength(list.length);
    for (const [position, element] of list.entries()) {
      const row = rows[position] ?? [];
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

function ownOf(text: string, name: string): Json | undefined {
  const object = parseObject(text);
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
