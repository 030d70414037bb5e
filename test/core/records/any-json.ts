import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { numberOf, parseJson, type Json, type JsonObject } from '../../../src/lib/json/json.ts';
import { anyText, textFrom } from '../../support/any-text.ts';

const realAssets = new URL('../../../../shared/data/real-assets.jsonl', import.meta.url);

/** Whether there are real records to test with. */
export const hasRealRecords = existsSync(realAssets);

/** The texts of records as the service sent them; none where that file is absent. */
export function realRecordTexts(): string[] {
  if (!hasRealRecords) return [];
  return readFileSync(realAssets, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

const digits = textFrom('0123456789', { minLength: 1, maxLength: 24 });
const zeros = textFrom('0', { maxLength: 8 });
const exponent = fc
  .tuple(
    fc.constantFrom('e', 'E'),
    fc.constantFrom('', '+', '-'),
    textFrom('0123456789', { minLength: 1, maxLength: 4 }),
  )
  .map((parts) => parts.join(''));

/** The text of any JSON number: any length, closing zeros, exponents of any size, minus zero. */
export const numberTextOf: fc.Arbitrary<string> = fc.oneof(
  fc
    .record({
      sign: fc.constantFrom('', '-'),
      whole: fc.oneof(
        fc.constant('0'),
        digits.map((text) => text.replace(/^0+/, '') || '0'),
      ),
      fraction: fc.option(
        fc.tuple(zeros, digits, zeros).map((parts) => parts.join('')),
        { nil: undefined },
      ),
      exponent: fc.option(exponent, { nil: undefined }),
    })
    .map(
      ({ sign, whole, fraction, exponent }) =>
        sign + whole + (fraction === undefined ? '' : `.${fraction}`) + (exponent ?? ''),
    ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }).map(String),
  fc.integer().map(String),
  fc.constantFrom(
    '-0',
    '0.0',
    '-0.0',
    '1e400',
    '1.0',
    '18446744073709551615',
    '9007199254740993',
    '0.030000000000000002',
  ),
);

/** Names that JavaScript objects treat specially, odd ones, and any. */
const memberName = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toJSON',
    'isLosslessNumber',
    'length',
    '',
    '0',
    '10',
    'a.b',
    '\ud800',
    'id',
  ),
  anyText,
);
/** Any string: lone surrogates, NUL and line breaks too. */
export const anyString = fc.oneof(
  anyText,
  fc.constantFrom(
    '',
    '\ud800',
    'a\udc00b',
    '\n',
    '=1+1',
    '\u2028',
    '\0',
    '\x001.0',
    '"\x001"',
    '[1.0,2.0]',
    ',1.0,',
    'null',
    '{}',
    '\u{1f600}',
  ),
);

function jsonObject(members: [string, Json][]): JsonObject {
  return Object.fromEntries(members);
}

/** Any JSON value, numbers as parseJson gives them. */
export const anyJson: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(numberTextOf.map(numberOf), anyString, fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(memberName, tie('value')), { maxLength: 4 }).map(jsonObject),
  ),
})).value;

export function parseObject(text: string): JsonObject {
  return parseJson(text) as JsonObject;
}
