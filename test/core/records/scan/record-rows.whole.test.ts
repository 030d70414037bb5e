import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { childRows, flattenAsset } from '../../../../src/core/records/flatten-asset.ts';
import { assetsTable, tables } from '../../../../src/core/records/columns.ts';
import type { Drift } from '../../../../src/core/records/drift.ts';
import { isJsonObject, type JsonObject, parseJson, stringifyJson } from '../../../../src/lib/json/json.ts';
import { blockOf, type RowBlock, textMarks, textOfCell } from '../../../../src/core/records/row-block.ts';
import { childTables, recordPlan } from '../../../../src/core/records/scan/record-plan.ts';
import { RecordRows } from '../../../../src/core/records/scan/record-rows.ts';
import type { Column, Table } from '../../../../src/core/records/table.ts';
import { generatedId, generatedRecord } from '../../../../packages/practice-service/src/generated/generated-assets.ts';
import { hasRealRecords, realRecordTexts } from '../any-json.ts';
import { anyRecord } from '../any-record.ts';
import { sampledRuns } from '../../../model/support/sample.ts';

const plan = recordPlan(childTables);

afterEach(() => {
  vi.restoreAllMocks();
});

/** Rows as anyone may see them: the text of each cell, and the marks that say something of its type. */
function seen(columns: readonly Column[], block: RowBlock): unknown[] {
  return Array.from({ length: block.rows }, (_, row) =>
    columns.map((column, index) => {
      const cell = row * block.width + index;
      const text = textOfCell(block, cell);
      if (text === null) return null;
      const marks = block.marks[cell] ?? 0;
      if (column.type === 'string') return { text, marks };
      return column.type === 'json' ? { text, marks: marks & textMarks.separators } : { text };
    }),
  );
}

function rowsSeen(rows: RecordRows, records: readonly number[]): Record<string, unknown[]> {
  return Object.fromEntries(
    [assetsTable, ...childTables].map((table) => [table.name, seen(table.columns, rows.rows(table, records))]),
  );
}

/** What the long way makes of the same text. */
function longWay(text: string): { rows: Record<string, unknown[]>; drifts: string[] } {
  const record = parseJson(text);
  if (!isJsonObject(record)) throw new Error('no record');
  const flat = flattenAsset(record);
  const drifts: Drift[] = [...flat.drift];
  const of = (table: Table): unknown[] =>
    seen(table.columns, blockOf(table.columns, table === assetsTable ? [flat.row] : childRows(table, record, drifts)));
  const rows = Object.fromEntries([assetsTable, ...childTables].map((table) => [table.name, of(table)]));
  return { rows, drifts: sorted(drifts) };
}

function sorted(drifts: readonly Drift[]): string[] {
  return drifts.map(({ kind, path }) => `${kind} ${path}`).toSorted();
}

function driftsOf(rows: RecordRows, record: number): Drift[] {
  const drifts: Drift[] = [];
  rows.eachDrift(record, (drift) => drifts.push(drift));
  return drifts;
}

/** Has a plan learn the names of a record, as it does when the record is read the long way. */
function learn(text: string, known = plan): void {
  const rows = new RecordRows(Buffer.from(text), known);
  rows.add(parseJson(text) as JsonObject, 0, Buffer.byteLength(text));
  rows.release();
}

/** Reads the one record of an answer, in memory that held others; undefined when the kernel refuses it. */
function shortWay(
  text: string,
  known = plan,
): { rows: Record<string, unknown[]>; drifts: string[]; end: number } | undefined {
  const rows = new RecordRows(Buffer.from(`[${text}]`), known);
  const end = rows.read(1);
  const found = end < 0 ? undefined : { rows: rowsSeen(rows, [0]), drifts: sorted(driftsOf(rows, 0)), end };
  rows.release();
  return found;
}

/** Holds the short way to the long one; true when it took the record. */
function agrees(text: string, known = plan): boolean {
  const short = shortWay(text, known);
  if (short === undefined) return false;
  const long = longWay(text);
  expect(short.end).toBe(1 + Buffer.byteLength(text));
  expect(short.rows).toEqual(long.rows);
  expect(short.drifts).toEqual(long.drifts);
  return true;
}

const generated = Array.from({ length: 400 }, (_, n) => generatedRecord(generatedId(7, n)));
for (const text of [...generated, ...realRecordTexts()]) learn(text);

describe('rows read from the bytes of a record', () => {
  it('are those of the parsed record, and nearly every usual record is read so', () => {
    expect(generated.filter((text) => agrees(text)).length).toBeGreaterThanOrEqual(generated.length * 0.95);
  });

  it.skipIf(!hasRealRecords)('are those of the parsed record for real records, nearly all of which are read so', () => {
    const texts = realRecordTexts();
    expect(texts.filter((text) => agrees(text)).length).toBeGreaterThanOrEqual(texts.length * 0.95);
  });

  it('are those of the parsed record for any record that is not refused', () => {
    let taken = 0;
    const runs = sampledRuns(2000);
    fc.assert(
      fc.property(anyRecord, (record) => {
        if (agrees(stringifyJson(record))) taken += 1;
      }),
      { seed: 11, ...runs },
    );
    // More than one in 25.
    expect(taken).toBeGreaterThan(runs.numRuns / 25);
  });

  it('are the same when the record is written in other words', () => {
    const styles = [
      (text: string): string => JSON.stringify(JSON.parse(text), null, 2),
      (text: string): string => text.replaceAll('/', '\\/'),
      (text: string): string =>
        text.replaceAll(/[aeiou](?=[^"]*")/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`),
      (text: string): string => text.replaceAll(',', ' ,\n\t').replaceAll(':', ' : '),
    ];
    for (const style of styles)
      for (const text of [...generated.slice(0, 60), ...realRecordTexts().slice(0, 60)]) {
        const styled = style(text);
        if (isJson(styled)) agrees(styled);
      }
  });

  it('are the same in whatever order the members come, among more names than are compared one by one', () => {
    const known = recordPlan(childTables);
    const invented = Array.from({ length: 60 }, (_, n): [string, number] => [`odd ${n}`, n]);
    fc.assert(
      fc.property(fc.constantFrom(...generated), fc.gen(), (text, given) => {
        const shuffled = (_: string, value: unknown): unknown => {
          if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
          const members = Object.entries(value);
          return Object.fromEntries(given(fc.shuffledSubarray, members, { minLength: members.length }));
        };
        const record = { ...(JSON.parse(text) as JsonObject), ...Object.fromEntries(invented) };
        learn(JSON.stringify(record), known);
        expect(agrees(JSON.stringify(record, shuffled), known)).toBe(true);
      }),
      { seed: 17, ...sampledRuns(200) },
    );
  });

  it('hold a double as JavaScript prints it, however many zeros it came with', () => {
    const digits = (maxLength: number) =>
      fc.string({ unit: fc.constantFrom('0', '0', '1', '5'), minLength: 1, maxLength });
    fc.assert(
      fc.property(fc.constantFrom('', '-'), digits(8), digits(7), (sign, whole, fraction) => {
        const text = `${sign}${whole.replace(/^0+(?=.)/, '')}.${fraction}`;
        // Longer ones may have zeros at their end, which a cell has not.
        const isShort = whole.length <= 7 && fraction.length <= 6;
        expect(agrees(`{"id":"a","royalty":{"percent":${text}}}`) || !isShort).toBe(true);
      }),
      { seed: 17, numRuns: 1000 },
    );
  });

  it('never come from text that is no JSON, nor end elsewhere than the record', () => {
    const texts = [...generated.slice(0, 40), ...realRecordTexts().slice(0, 40)];
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.tuple(fc.nat(), fc.nat(3)),
        fc.constantFrom(...Array.from('"\\{}[],:0 -.ntfeu\u0001é'), ''),
        (text, [at, length], put) => {
          const start = at % text.length;
          const spoilt = text.slice(0, start) + put + text.slice(start + length);
          const rows = new RecordRows(Buffer.from(`[${spoilt}]`));
          const end = rows.read(1);
          if (end < 0) return;
          const read = Buffer.from(`[${spoilt}]`).toString('utf8', 1, end);
          expect(isJson(read)).toBe(true);
          agrees(read);
        },
      ),
      { seed: 12, ...sampledRuns(5000) },
    );
  });
});

describe('odd records', () => {
  const odd: Readonly<Record<string, string>> = {
    'a name that comes twice': '{"id":"a","burnt":true,"burnt":false}',
    'an unknown name that comes twice': '{"id":"a","odd":1,"odd":2}',
    'a branch that comes twice': '{"id":"a","content":{"json_uri":"x"},"content":{"$schema":"y"}}',
    'a name twice inside a json column': '{"id":"a","content":{"links":{"image":"1","other":"2","image":"3"}}}',
    'a name twice inside an element': '{"id":"a","creators":[{"share":1,"share":2}]}',
    'names like numbers': '{"id":"a","content":{"links":{"b":1,"7":2}},"10":1,"9":2}',
    'no id': '{"content":{}}',
    'a null id': '{"id":null}',
    'a number as id': '{"id":7}',
    'empty objects': '{"id":"a","content":{},"royalty":{"target":null},"supply":{}}',
    'an empty object within an object that is kept': '{"id":"a","content":{"metadata":{},"odd":{}}}',
    'an element that is no object': '{"id":"a","creators":[null,1,{}]}',
    'empty elements': '{"id":"a","creators":[{},{"odd":1}]}',
    'a list that is none': '{"id":"a","grouping":{"group_key":"collection"}}',
    'attributes as an object': '{"id":"a","content":{"metadata":{"attributes":{"Eyes":"blue"}}}}',
    'attribute values of every kind':
      '{"id":"a","content":{"metadata":{"attributes":[{"value":1.0},{"value":true},{"value":null},{"value":{"a":[1,"2"]}},{"value":[]},{"trait_type":"x"},{"value":"\\u00e9,"}]}}}',
    'two collections':
      '{"id":"a","grouping":[{"group_key":"x","group_value":"1"},{"group_key":"collection","group_value":"2"},{"group_key":"collection","group_value":"3"}]}',
    'a collection without a value':
      '{"id":"a","grouping":[{"group_key":"collection"},{"group_key":"collection","group_value":"3"}]}',
    'a collection in escapes': '{"id":"a","grouping":[{"group_key":"c\\u006fllection","group_value":"\\u0033"}]}',
    'collections with metadata':
      '{"id":"a","grouping":[{"group_key":"x"},{"collection_metadata":{"name":"\\u00e9","odd":[1, 2],"image":null},"group_value":"2","group_key":"collection","rank":1.0},{"group_key":"collection","verified":true,"collection_metadata":{}}]}',
    'collections whose metadata is odd':
      '{"id":"a","grouping":[{"group_key":"collection","collection_metadata":[]},{"group_key":"collection","collection_metadata":{"name":1}},{"group_key":"collection","group_value":{}}]}',
    'the id behind the lists': '{"creators":[{"share":1},{"share":2}],"id":"a"}',
    'an id with escapes': '{"creators":[{"share":1}],"id":"\\u0061\\n"}',
    'a lone surrogate': '{"id":"a","content":{"metadata":{"name":"\\ud800","attributes":[{"value":"\\udc00x"}]}}}',
    'numbers at the edges':
      '{"id":"a","token_info":{"supply":18446744073709551615,"decimals":9223372036854775807},"compression":{"seq":-9223372036854775808,"leaf_id":-0},"royalty":{"percent":1e400,"basis_points":1.0}}',
    'doubles in other words': '{"id":"a","royalty":{"percent":0.0}}',
    'a double of exponent': '{"id":"a","royalty":{"percent":5E-2}}',
    'a long double': '{"id":"a","royalty":{"percent":0.05500000000000000027}}',
    'minus zero': '{"id":"a","royalty":{"percent":-0.0}}',
    'a value that the specification does not name':
      '{"id":"a","interface":"V9","royalty":{"royalty_model":"cr\\u0065ators"}}',
    __proto__: '{"id":"a","__proto__":{"x":1},"content":{"__proto__":1},"creators":[{"__proto__":[]}]}',
    'a hundred and twenty levels': `{"id":"a","odd":${'['.repeat(120)}${']'.repeat(120)}}`,
    'many names': `{"id":"a","content":{"links":{${Array.from({ length: 3000 }, (_, n) => `"n${n % 2990}":${n}`).join()}}}}`,
    'an empty name': '{"id":"a","":1,"content":{"":{"":""}}}',
    'strings of controls': '{"id":"a","content":{"metadata":{"name":"\\u0000\\t\\r\\n\\"\\\\"}}}',
  };

  it.each(Object.entries(odd))('%s: as the long way has it, or refused', (_, text) => {
    const json = parseJson(text);
    const short = shortWay(text);
    if (!isJsonObject(json) || typeof json.id !== 'string') expect(short).toBeUndefined();
    else agrees(text);
  });
});

describe('the rows of an answer', () => {
  it('stay right beside records that are refused, in any order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(anyRecord.map(stringifyJson), fc.constantFrom(...generated.slice(0, 50))), { maxLength: 8 }),
        fc.array(fc.nat(), { minLength: 8, maxLength: 8 }),
        (texts, order) => {
          const rows = rowsOfAll(texts);
          expect(rows.count).toBe(texts.length);
          const indices = texts.map((_, index) => index);
          const shuffled = indices
            .map((index) => ({ index, by: order[index] ?? 0 }))
            .toSorted((a, b) => a.by - b.by)
            .map(({ index }) => index);
          for (const picked of [indices, shuffled, shuffled.slice(0, 2)]) {
            const expected: Record<string, unknown[]> = {};
            for (const index of picked) {
              const long = longWay(texts[index] ?? '');
              for (const [table, some] of Object.entries(long.rows)) (expected[table] ??= []).push(...some);
              expect(sorted(driftsOf(rows, index))).toEqual(long.drifts);
              expect(rows.text(index)).toBe(texts[index]);
            }
            if (picked.length > 0) expect(rowsSeen(rows, picked)).toEqual(expected);
          }
        },
      ),
      { seed: 13, ...sampledRuns(240) },
    );
  });

  it('are those of assets alone where no child table is wanted, and so are the drifts', () => {
    const odd = '{"id":"a","grouping":[{"group_key":"collection","group_value":"b","rank":1}]}';
    for (const text of [odd, ...generated.slice(0, 100), ...realRecordTexts().slice(0, 50)]) {
      const rows = new RecordRows(Buffer.from(`[${text}]`));
      if (rows.read(1) < 0) rows.add(parseJson(text) as JsonObject, 1, 1 + Buffer.byteLength(text));
      const flat = flattenAsset(parseJson(text) as JsonObject);
      const columns = assetsTable.columns;
      expect(seen(columns, rows.rows(assetsTable, [0]))).toEqual(seen(columns, blockOf(columns, [flat.row])));
      expect(sorted(driftsOf(rows, 0))).toEqual(sorted(flat.drift));
    }
  });

  // Promise, Nothing lost: `collections` has the same rows from bytes and from parsed records
  it('are those of collections without the groups, beside records that are read the long way', () => {
    const collections = tables.filter(({ name }) => name === 'collections');
    const group = (name: string) =>
      `{"group_key":"collection","group_value":"c","odd":1,"collection_metadata":{${name}}}`;
    const texts = ['"name":7', '"name":"n","site":"s"'].map(
      (name) => `{"id":"a","grouping":[{"odd":2},${group(name)}]}`,
    );
    const rows = rowsOfAll(texts, recordPlan(collections));
    for (const table of collections) {
      const made = texts.flatMap((text) => childRows(table, parseJson(text) as JsonObject));
      expect(seen(table.columns, rows.rows(table, [0, 1]))).toEqual(seen(table.columns, blockOf(table.columns, made)));
    }
    expect(texts.map((_, record) => sorted(driftsOf(rows, record)))).toEqual([
      ['misfit grouping[].collection_metadata.name'],
      [],
    ]);
  });

  it('has each record as one raw line', () => {
    const rows = rowsOfAll(['{"id":"a"}', '{\n"id"\r\n:"b"\n}']);
    const raw = rows.rawRows([1, 0]);
    expect([textOfCell(raw, 0), textOfCell(raw, 1)]).toEqual(['{"id":"b"}', '{"id":"a"}']);
  });

  it('takes a record of half a million members that no column names', () => {
    const members = Array.from({ length: 500_000 }, (_, n) => `"odd${n}":${n}`);
    const add = vi.spyOn(RecordRows.prototype, 'add');
    const rows = rowsOfAll([`{"id":"a",${members.join(',')}}`]);
    expect(add).toHaveBeenCalledOnce();
    expect(driftsOf(rows, 0)).toHaveLength(500_000);
  });

  it('does not grow with the names that a service invents', () => {
    const texts = Array.from({ length: 400 }, (_, n) => `{"id":"a","odd${n}":${n}}`);
    const add = vi.spyOn(RecordRows.prototype, 'add');
    const rows = rowsOfAll(texts);
    expect(add).toHaveBeenCalled();
    expect(rowsSeen(rows, [399]).assets).toEqual(longWay(texts[399] ?? '').rows['assets']);
  });
});

/** The rows of all records, those that are refused by the long way. */
function rowsOfAll(texts: readonly string[], known = plan): RecordRows {
  const rows = new RecordRows(Buffer.from(`[${texts.join(',')}]`), known);
  let at = 1;
  for (const text of texts) {
    const end = at + Buffer.byteLength(text);
    if (rows.read(at) < 0) rows.add(parseJson(text) as JsonObject, at, end);
    at = end + 1;
  }
  return rows;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
