import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordTexts } from '../../src/exports/record-text.ts';
import { assetsTable } from '../../src/core/records/columns.ts';
import { flattenAsset } from '../../src/core/records/flatten-asset.ts';
import { stringifyJson } from '../../src/lib/json/json.ts';
import { rebuildAsset } from '../../src/exports/records.ts';
import { blockOf } from '../../src/core/records/row-block.ts';
import type { Row } from '../../src/core/records/table.ts';
import { hasRealRecords, parseObject, realRecordTexts } from '../core/records/any-json.ts';
import { anyRecord } from '../core/records/any-record.ts';
import { sampledRuns } from '../model/support/sample.ts';

function textsOf(rows: readonly Row[]): string[] {
  const texts = new RecordTexts(blockOf(assetsTable.columns, rows));
  return rows.map((_, row) => texts.of(row).toString());
}

const long = (row: Row): string => stringifyJson(rebuildAsset(row));

describe('the records of rows', () => {
  it('are those that rebuildAsset makes of the cells, byte for byte', () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 3 }), (records) => {
        const rows = records.map((record) => flattenAsset(record).row);
        // What a file holds of a lone surrogate is U+FFFD.
        expect(textsOf(rows)).toEqual(
          rows.map((row) => long(row.map((c) => (typeof c === 'string' ? c.toWellFormed() : c)))),
        );
      }),
      { seed: 7, ...sampledRuns(1500) },
    );
  });

  it.skipIf(!hasRealRecords)('are so for every real record', () => {
    const rows = [...realRecordTexts()].map((text) => flattenAsset(parseObject(text)).row);
    expect(textsOf(rows)).toEqual(rows.map(long));
  });

  it.each([
    '{"id":"a","content":{"metadata":{"name":1,"symbol":"s"},"x":{"metadata":1}},"burnt":"no"}',
    '{"id":"a","content":7,"compression":{"flags":1,"seq":2},"later":{"id":"b"}}',
    '{"id":"a","content":{},"ownership":{"later":[]},"7":1,"\\"q\\"":2}',
  ])('merge what no column holds: %s', (text) => {
    const { row } = flattenAsset(parseObject(text));
    expect(textsOf([row])).toEqual([long(row)]);
  });

  it.each(['[1]', '"text"', '{"id":"b"}', '{ "x": 1 }', '{"content":7}'])(
    'go the long way where extra is %s',
    (extra) => {
      const { row } = flattenAsset(parseObject('{"id":"a","content":{"json_uri":"u"}}'));
      const other = row.map((cell, at) => (assetsTable.columns[at]?.name === 'extra' ? extra : cell));
      expect(textsOf([other])).toEqual([long(other)]);
    },
  );
});
