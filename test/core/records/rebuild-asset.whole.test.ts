import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assetsTable } from '../../../src/core/records/columns.ts';
import { flattenAsset } from '../../../src/core/records/flatten-asset.ts';
import { parseJson, stringifyJson } from '../../../src/lib/json/json.ts';
import { rebuildAsset } from '../../../src/exports/records.ts';
import { hasRealRecords, parseObject, realRecordTexts } from './any-json.ts';
import { anyRecord, differenceOf } from './any-record.ts';
import { sampledRuns } from '../../model/support/sample.ts';

describe('rebuildAsset', () => {
  // Promise, Nothing misread: A record can be rebuilt from its row (sampled)
  it('gives back any record that was flattened', () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        const before = stringifyJson(record);
        const { row } = flattenAsset(record);
        expect(stringifyJson(record)).toBe(before);
        const rebuilt = rebuildAsset(row);
        expect(differenceOf(rebuilt, record)).toBeUndefined();
        expect(flattenAsset(rebuilt).row).toEqual(row);
        expect(flattenAsset(parseObject(stringifyJson(rebuilt))).row).toEqual(row);
      }),
      { seed: 42, ...sampledRuns(1500) },
    );
  });

  it.skipIf(!hasRealRecords)('gives back every real record', () => {
    for (const text of realRecordTexts()) {
      const record = parseObject(text);
      const { row } = flattenAsset(record);
      const rebuilt = rebuildAsset(row);
      expect(differenceOf(rebuilt, record)).toBeUndefined();
      expect(flattenAsset(parseObject(stringifyJson(rebuilt))).row).toEqual(row);
    }
  });

  it('keeps absent and {} apart', () => {
    for (const text of [
      '{"id":"a"}',
      '{"id":"a","content":{}}',
      '{"id":"a","content":{"metadata":{}}}',
      '{"id":"a","supply":{}}',
    ]) {
      expect(rebuildAsset(flattenAsset(parseObject(text)).row)).toEqual(JSON.parse(text));
    }
  });

  it('keeps minus zero', () => {
    const { row } = flattenAsset(parseObject('{"id":"a","royalty":{"percent":-0},"content":{"files":-0}}'));
    expect(stringifyJson(rebuildAsset(row))).toBe('{"id":"a","content":{"files":-0},"royalty":{"percent":-0}}');
  });

  it('sets no prototype for members named __proto__', () => {
    const text = '{"id":"a","content":{"__proto__":{"x":1}},"__proto__":{"content":{"json_uri":"evil"}}}';
    const record = parseObject(text);
    const { row } = flattenAsset(record);
    expect(row[assetsTable.columns.findIndex((column) => column.name === 'content_json_uri')]).toBeNull();
    expect(differenceOf(rebuildAsset(row), record)).toBeUndefined();
  });

  it('survives 100,000 levels in json columns and in extra', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const record = parseJson(`{"id":"a","creators":${deep},"content":{"odd":${deep},"json_uri":${deep}}}`);
    const { row } = flattenAsset(record as { id: string });
    expect(differenceOf(rebuildAsset(row), record)).toBeUndefined();
  });
});
