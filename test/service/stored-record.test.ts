import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonObject, parseJson } from '../../src/lib/json/json.ts';
import { AnswerBytes, AnswerTooBig } from '../../packages/practice-service/src/answer-bytes.ts';
import {
  appendRecord,
  recordOf,
  type ShowFlags,
  type StoredRecord,
} from '../../packages/practice-service/src/store/stored-record.ts';
import { anyText } from '../support/any-text.ts';

const everything = { showFungible: true, showCollectionMetadata: true };
const nothing = { showFungible: false, showCollectionMetadata: false };

function stored(text: string): StoredRecord {
  return recordOf(Buffer.from(text), JSON.parse(text) as Record<string, unknown>);
}

function shown(text: string, flags: ShowFlags): string {
  const out = new AnswerBytes(1 << 24, 16);
  appendRecord(out, stored(text), flags);
  return out.finish().toString();
}

/** JSON text of a value with blanks around its marks and, now and then, a key or string written in escapes. */
function spaced(value: unknown, draw: () => number): string {
  const blank = (): string => ['', '', '', ' ', '\t ', '\r\n'][draw() % 6] ?? '';
  const quoted = (text: string): string => {
    if (draw() % 8 !== 0) return JSON.stringify(text);
    return `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
  };
  const print = (part: unknown): string => {
    if (typeof part === 'string') return quoted(part);
    if (Array.isArray(part)) return `[${blank()}${part.map((each) => print(each) + blank()).join(`,${blank()}`)}]`;
    if (typeof part !== 'object' || part === null) return JSON.stringify(part);
    const members = Object.entries(part).map(([key, each]) => `${quoted(key)}${blank()}:${blank()}${print(each)}`);
    return `{${blank()}${members.join(`${blank()},${blank()}`)}${blank()}}`;
  };
  return print(value);
}

const key = fc.constantFrom('token_info', 'collection_metadata', 'grouping', 'id', 'a', '"', '\\', '{', 'é,', '');
const { any } = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    anyText,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null, 'token_info', '"}],', '\\'),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(key, tie('any'), { maxKeys: 4 }),
  ),
}));
const group = fc.oneof(
  any,
  fc.record(
    { group_key: fc.string(), collection_metadata: any, group_value: any, verified: fc.boolean() },
    { requiredKeys: [] },
  ),
);
const record = fc.record(
  { interface: any, token_info: any, x: any, grouping: fc.oneof(any, fc.array(group, { maxLength: 4 })), y: any },
  { requiredKeys: [] },
);

/** What is left of a parsed record when a flag does not show its part. */
function without(value: Readonly<Record<string, unknown>>, flags: ShowFlags): unknown {
  const copy = { ...value };
  if (!flags.showFungible) delete copy['token_info'];
  if (!flags.showCollectionMetadata && Array.isArray(copy['grouping'])) {
    copy['grouping'] = copy['grouping'].map((each: unknown) => {
      if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
      return Object.fromEntries(Object.entries(each).filter(([name]) => name !== 'collection_metadata'));
    });
  }
  return copy;
}

describe('a stored record', () => {
  it('shows what its flags show, of any JSON however it is written', () => {
    fc.assert(
      fc.property(record, fc.array(fc.nat(), { minLength: 50, maxLength: 50 }), fc.boolean(), (value, draws, flag) => {
        let at = 0;
        const text = spaced(value, () => draws[at++ % draws.length] ?? 0);
        const parsed = parseJson(text) as JsonObject;
        expect(shown(text, everything)).toBe(text);
        for (const flags of [nothing, { showFungible: flag, showCollectionMetadata: !flag }]) {
          expect(parseJson(shown(text, flags))).toEqual(without(parsed, flags));
        }
      }),
      { numRuns: 2000, seed: 11 },
    );
  });

  it('is cut where a member is doubled, first, last or alone', () => {
    const cases = {
      '{"token_info":1}': '{}',
      '{ "token_info" : {"a":[1,"}"]} , "b":2}': '{ "b":2}',
      '{"b":2, "token_info":1 }': '{"b":2 }',
      '{"token_info":1,"token_info":2,"b":3,"token_info":4,"token_info":5}': '{"b":3}',
      '{"grouping":[{"collection_metadata":{}},{"a":1,"collection_metadata":[]}],"token_info":-1e5}':
        '{"grouping":[{},{"a":1}]}',
      '{"n":18446744073709551615,"token_info":0}': '{"n":18446744073709551615}',
    };
    for (const [text, left] of Object.entries(cases)) expect(shown(text, nothing)).toBe(left);
  });

  it.each([
    ['[{"group_key":"collection","verified":false}]', true],
    ['[{"group_key":"collection","verified":true}]', false],
    ['[{"group_key":"collection"}]', false],
    ['[{"group_key":"collection","verified":false},{"group_key":"collection","verified":true}]', false],
    ['[{"group_key":"other","verified":false}]', false],
    ['[]', false],
    ['null', false],
  ])('of grouping %s: unverified is %s', (grouping, unverified) => {
    expect(stored(`{"grouping":${grouping}}`).isUnverified).toBe(unverified);
  });
});

describe('the bytes of an answer', () => {
  it('grow up to the cap and not past it', () => {
    const out = new AnswerBytes(10, 1);
    out.text('é1234567');
    out.bytes(Buffer.from('abc'), 1, 2);
    expect(() => {
      out.text('x');
    }).toThrow(AnswerTooBig);
    expect(out.finish().toString()).toBe('é1234567b');
  });
});
