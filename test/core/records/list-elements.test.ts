import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assetsTable } from '../../../src/core/records/columns.ts';
import { parseJson, stringifyJson, type Json } from '../../../src/lib/json/json.ts';
import { isJsonObject } from '../../../src/lib/json/json-value.ts';
import { listElements, listText } from '../../../src/core/records/list-elements.ts';
import { shapeTable, wholeTables } from '../../../src/core/records/shape-table.ts';
import { anyJson } from './any-json.ts';
import { anyRecord, sameList } from './any-record.ts';

const { table } = shapeTable(assetsTable, { ...wholeTables, nested: true });
const lists = table.columns.filter(({ elements }) => elements !== undefined);

describe('the elements of a list column', () => {
  it('are those of the five lists of a record', () => {
    expect(lists.map(({ name }) => name)).toEqual([
      'content_files',
      'content_metadata_attributes',
      'authorities',
      'creators',
      'grouping',
    ]);
  });

  it.each(lists.map((column) => [column.name, column] as const))('give the list back: %s', (_, column) => {
    const elements = column.elements ?? [];
    const list = fc.oneof(
      fc.array(anyJson, { maxLength: 5 }),
      anyRecord.map((record) =>
        column.path.reduce<Json>((at, name) => (isJsonObject(at) ? (at[name] ?? null) : null), record),
      ),
    );
    fc.assert(
      fc.property(list, (value) => {
        if (!Array.isArray(value)) return;
        const text = stringifyJson(value);
        const back = parseJson(listText(elements, listElements(column, text)));
        expect(sameList(value, back, column), text).toBe(true);
      }),
      { seed: 5, numRuns: 400 },
    );
  });

  it('hold no half characters: such an element is kept whole in extra', () => {
    const creators = lists.find(({ name }) => name === 'creators');
    if (creators === undefined) throw new Error('no creators');
    const text = '[{"address":"\\ud800","share":1},{"address":"a","share":18446744073709551615},null,7]';
    expect(listElements(creators, text)).toEqual([
      [null, null, null, '{"address":"\\ud800","share":1}'],
      ['a', null, null, '{"share":18446744073709551615}'],
      null,
      [null, null, null, '7'],
    ]);
    expect(listText(creators.elements ?? [], listElements(creators, text))).toBe(
      '[{"address":"\\ud800","share":1},{"share":18446744073709551615,"address":"a"},null,7]',
    );
  });
});
