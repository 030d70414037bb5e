import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseJson, stringifyJson } from '../../../src/lib/json/json.ts';
import { rawLine } from '../../../src/core/records/scan/record-rows.ts';
import { anyJson } from './any-json.ts';

it('puts a record on one line and changes nothing else', () => {
  fc.assert(
    fc.property(anyJson, fc.constantFrom('\n', '\r\n', '\r'), (value, lineBreak) => {
      const text = stringifyJson(value);
      const spread = lineBreak + text + lineBreak;
      expect(rawLine(spread)).toBe(text);
      expect(stringifyJson(parseJson(rawLine(JSON.stringify({ a: [1, { b: text }] }, null, 2))))).toBe(
        JSON.stringify({ a: [1, { b: text }] }),
      );
    }),
    { seed: 5, numRuns: 300 },
  );
});

it('keeps blanks and the text of numbers', () => {
  expect(rawLine('{"a": 1.0,\r\n "b":\n[ 1e5 ]}\n')).toBe('{"a": 1.0, "b":[ 1e5 ]}');
});
