import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ExactNumber,
  isJsonObject,
  type Json,
  parseExact,
  parseJson,
  stringifyExact,
  stringifyJson,
} from '../../../src/lib/json/json.ts';
import { anyJson, hasRealRecords, numberTextOf, realRecordTexts } from '../../core/records/any-json.ts';
import { textFrom } from '../../support/any-text.ts';
import { startStopwatch } from '../../support/stopwatch.ts';
import { sampledRuns } from '../../model/support/sample.ts';

const seed = 20240611;

describe('parseJson and stringifyJson', () => {
  // Promise, Nothing misread: Any number survives, digit for digit (sampled)
  it('give back any number text, wherever it stands', () => {
    const blank = textFrom(' \t\n\r', { maxLength: 3 });
    fc.assert(
      fc.property(numberTextOf, blank, blank, (number, before, after) => {
        const padded = before + number + after;
        expect(stringifyJson(parseJson(padded))).toBe(number);
        expect(stringifyJson(parseJson(`[${padded}]`))).toBe(`[${number}]`);
        expect(stringifyJson(parseJson(`[1,"a",${padded},true]`))).toBe(`[1,"a",${number},true]`);
        expect(stringifyJson(parseJson(`{"a":[{"b":${padded}}],"c":${padded}}`))).toBe(
          `{"a":[{"b":${number}}],"c":${number}}`,
        );
        expect(stringifyJson(parseJson(`{"a":${JSON.stringify(`x,${number},"`)},"b":${padded},"c":"\\\\"}`))).toBe(
          `{"a":${JSON.stringify(`x,${number},"`)},"b":${number},"c":"\\\\"}`,
        );
      }),
      { seed, ...sampledRuns(3000) },
    );
  });

  it.each([
    '0',
    '-0',
    '-0.0',
    '0.0',
    '1.0',
    '1.50',
    '10',
    '1e5',
    '1E5',
    '1e+5',
    '1e400',
    '-1e-400',
    '1e21',
    '1e+21',
    '1e-7',
    '0.0000001',
    '0.000001',
    '0.30000000000000004',
    '0.1234567890123456789',
    '0.030000000000000002',
    '123456.7890123',
    '9007199254740991',
    '9007199254740993',
    '18446744073709551615',
    '18446744073709552000',
    '999999999999999',
    '1234567890123456',
    '12345678.5',
    '0.1234567',
    '100000000000000000000',
    '123456789012345678901234567890',
  ])('keep %s', (number) => {
    expect(stringifyJson(parseJson(number))).toBe(number);
    expect(stringifyJson(parseJson(`{"n":${number},"m":[${number}, ${number}]}`))).toBe(
      `{"n":${number},"m":[${number},${number}]}`,
    );
  });

  it('give back any JSON value', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = stringifyJson(value);
        expect(stringifyJson(parseJson(text))).toBe(text);
      }),
      { seed, ...sampledRuns(1000) },
    );
  });

  it('do as JSON.parse and JSON.stringify do where every number survives those', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const expected = JSON.stringify(JSON.parse(text));
        expect(stringifyExact(parseExact(text)).replaceAll('-0', '0')).toBe(expected.replaceAll('-0', '0'));
      }),
      { seed, ...sampledRuns(1000) },
    );
  });

  it.each([
    '',
    ' ',
    '{',
    '[1,]',
    '01',
    '1.',
    '.5',
    '+1',
    '-',
    '1e',
    'nul',
    '"a',
    '{"a":1,}',
    '[1.0 2]',
    '1.0x',
    'NaN',
    '"\n"',
  ])('refuse %j with a SyntaxError', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
    expect(() => parseJson(`[1.0,${text}`)).toThrow(SyntaxError);
  });

  it('keep names apart that begin alike and end in escapes', () => {
    const names = ['\\', 'a\\', 'token_info\\', '"', 'a"', '\n', 'a\n', 'token_info"', '\\\\', '\\a'];
    for (const name of names) {
      for (const other of names) {
        const member = `p${names.indexOf(name)} ${names.indexOf(other)}`;
        for (const each of [name, other]) {
          expect(parseJson(JSON.stringify({ [member]: 1, [each]: 0 }))).toEqual({ [member]: 1, [each]: 0 });
        }
      }
    }
  });

  it('let the last of equal keys win', () => {
    expect(parseJson('{"a":1,"a":2}')).toEqual({ a: 2 });
    expect(stringifyJson(parseJson('{"a":1.0,"b":3,"a":2.0}'))).toBe('{"a":2.0,"b":3}');
  });

  it.each(['{"__proto__":{"polluted":1}}', '{"__proto__":{"polluted":1},"n":1.0}'])(
    'keep __proto__ of %s as a member and set no prototype',
    (text) => {
      const value = parseJson(text) as object;
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect('polluted' in value).toBe(false);
      expect(stringifyJson(value as Json)).toBe(text);
    },
  );

  it('are not fooled by records that look like an exact number', () => {
    const text = '{"isLosslessNumber":true,"value":"1","text":"1e400","toJSON":"x","met":1,"n":1e400}';
    expect(stringifyJson(parseJson(text))).toBe(text);
  });

  it('tell exact numbers from strings that look like marked ones', () => {
    for (const string of [
      '\\u00001.0',
      '\\"\\u00001.0\\"',
      '\\"\\u00001',
      '\\u0000',
      '\\\\u00001.0',
      '\\u00001.0\\"',
    ]) {
      for (const text of [
        `["${string}"]`,
        `["${string}",1.0]`,
        `[1.0,"${string}",{"${string}":2.0}]`,
        `[1,"${string}"]`,
      ]) {
        expect(stringifyJson(parseJson(text))).toBe(text);
      }
    }
  });

  it.each(['[', '{"a":'])('survive nesting of 200,000 levels of %s', (open) => {
    const close = open === '[' ? ']' : '}';
    for (const middle of ['1', '1.0']) {
      const text = open.repeat(200_000) + middle + close.repeat(200_000);
      expect(stringifyJson(parseJson(text)) === text).toBe(true);
    }
  });

  it('keep lone surrogates as escapes', () => {
    for (const text of ['{"a\\ud800":"\\udfff"}', '{"a\\ud800":"\\udfff","n":1.0}']) {
      expect(stringifyJson(parseJson(text))).toBe(text);
    }
  });

  it('stay fast on hostile text', () => {
    const long = 1_000_000;
    const texts = [
      `["${',1'.repeat(long / 2)}"]`,
      `[${'1'.repeat(long)}]`,
      `[1.${'0'.repeat(long)}]`,
      `["${'\\"'.repeat(long / 2)}",1.0]`,
      `["${'\\\\'.repeat(long / 2)}",1.0]`,
      `[${' '.repeat(long)}1.0${' '.repeat(long)}]`,
      `["${`, ${' '.repeat(1000)}`.repeat(long / 1000)}"]`,
      `["${`,1${' '.repeat(1000)}`.repeat(long / 1000)}"]`,
    ];
    const ms = startStopwatch();
    for (const text of texts) stringifyJson(parseJson(text));
    expect(ms()).toBeLessThan(5000);
  });

  it.skipIf(!hasRealRecords)('give back every real record', () => {
    for (const text of realRecordTexts()) {
      expect(stringifyJson(parseExact(text))).toBe(text);
      expect(stringifyJson(parseJson(text))).toBe(text);
    }
  });
});

describe('ExactNumber', () => {
  it('is the nearest number where JSON.stringify prints it by itself', () => {
    expect(JSON.stringify(parseJson('[18446744073709551615,1.0]'))).toBe('[18446744073709552000,1]');
    expect(stringifyJson(parseJson('[18446744073709551615,1.0]'))).toBe('[18446744073709551615,1.0]');
    expect(JSON.stringify(parseJson('[1.5,1e1]'))).toBe('[1.5,10]');
  });
});

describe('isJsonObject', () => {
  it('tells objects from arrays, null and exact numbers', () => {
    expect([{}, [], null, new ExactNumber('1.0'), 'a', 1, true, undefined].map(isJsonObject)).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});
