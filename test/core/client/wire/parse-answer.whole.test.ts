import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assetsTable } from '../../../../src/core/records/columns.ts';
import { parseJson, stringifyJson } from '../../../../src/lib/json/json.ts';
import { textOfCell } from '../../../../src/core/records/row-block.ts';
import type { RecordRows } from '../../../../src/core/records/scan/record-rows.ts';
import type { AssetCall } from '../../../../src/core/client/asset-client.ts';
import { requestId } from '../../../../src/core/client/wire/call-body.ts';
import { MalformedAnswer, parseAnswer, type ParsedRecords } from '../../../../src/core/client/wire/parse-answer.ts';
import { answerBody, batchCall, idOf, idsIn, idsOf, recordText, singleBody, singleCall } from '../support/calls.ts';
import { textFrom } from '../../../support/any-text.ts';

const many = batchCall([idOf(1), idOf(2)]);
const one = singleCall(idOf(1));
const fixed = { seed: 7, numRuns: 300 };

function records(body: string | Uint8Array, call: AssetCall = many): ParsedRecords & { readonly rows: RecordRows } {
  const answer = parseAnswer(Buffer.from(body), call);
  if (answer.kind !== 'records') throw new Error(`an error: ${answer.error.words}`);
  return { ...answer, rows: answer.records as RecordRows };
}

function textsIn(rows: RecordRows): string[] {
  return Array.from({ length: rows.count }, (_, index) => rows.text(index));
}

/** What the row of the first record holds in `extra`. */
function extraOf(rows: RecordRows): string | null {
  return textOfCell(
    rows.rows(assetsTable, [0]),
    assetsTable.columns.findIndex(({ name }) => name === 'extra'),
  );
}

describe('parseAnswer', () => {
  it('gives each record with its text as it was sent', () => {
    const texts = [`{ "id" : "a",\n "n": 18446744073709551615 }`, '{"content":{"a":[{"id":"x"},{"id":"y"}]},"id":"b"}'];
    const answer = records(answerBody(texts));
    expect(textsIn(answer.rows)).toEqual(texts);
  });

  it('checks an answer without a reader, and makes no records of it', () => {
    const call = { ...many, reader: undefined };
    const odd = ['{"id":"a"}', 'null', `${'['.repeat(500)}${']'.repeat(500)}`, '{}'];
    expect(parseAnswer(answerBody(odd), call)).toMatchObject({ kind: 'records', records: undefined, idless: 0 });
    for (const broken of ['{"id":"a"', '{"id":"a",}', '{"id":"a"} {}', '['.repeat(500)])
      expect(() => parseAnswer(answerBody([broken]), call)).toThrow(MalformedAnswer);
    expect(() => parseAnswer(singleBody('{}'), call)).toThrow('the result is not an array');
  });

  it('leaves nulls out and counts what has no id', () => {
    const answer = records(answerBody(['null', '{"id":"a"}', '{}', '7', '"id"', '[]', '{"id":5}', 'null', 'true']));
    expect(idsIn(answer.rows)).toEqual(['a']);
    expect(answer.idless).toBe(6);
  });

  it('takes members in any order and any white space', () => {
    const answer = records(
      ` \r\n{ "x":[1,{"result":[]}],\t"result" : [ {"id":"a"} ,\n null ] , "id":${requestId(many)} , "jsonrpc" : "2.0" }\n`,
    );
    expect(idsIn(answer.rows)).toEqual(['a']);
    expect(records(answerBody([], requestId(many))).otherResponseId).toBe(false);
  });

  it('passes over a byte order mark before the answer, and over none within', () => {
    expect(idsIn(records(`\uFEFF ${Buffer.from(answerBody(['{"id":"a"}'])).toString()}`).rows)).toEqual(['a']);
    expect(() => records(`\uFEFF\uFEFF${Buffer.from(answerBody([])).toString()}`)).toThrow('malformed answer');
    expect(() => records(answerBody(['\uFEFF{"id":"a"}']))).toThrow('malformed answer');
  });

  it('takes an empty result, and an error that is null', () => {
    expect(records('{"jsonrpc":"2.0","result":[],"error":null,"id":1}').rows.count).toBe(0);
    expect(records('{"jsonrpc":"2.0","result":[ ],"id":1}').rows.count).toBe(0);
  });

  it.each(['2', 'null', '"1"', '{}'])('notes another response id: %s', (id) => {
    expect(records(`{"jsonrpc":"2.0","result":[],"id":${id}}`).otherResponseId).toBe(true);
    expect(records('{"jsonrpc":"2.0","result":[]}').otherResponseId).toBe(true);
  });

  it('reads one record, or none, from getAsset', () => {
    expect(idsIn(records(singleBody('{"id":"a"}'), one).rows)).toEqual(['a']);
    expect(records(singleBody('null'), one).rows.count).toBe(0);
    expect(records(singleBody('{}'), one)).toMatchObject({ rows: { count: 0 }, idless: 1 });
  });

  it('reads {id, error} as the reason why there is no record, without the key', () => {
    const entries = [
      '{"id":"a","error":{"code":-32000,"message":"Asset not found"}}',
      '{"error":"no luck with the-key","id":"b"}',
      '{"id":"c","error":{"odd":12345678901234567890}}',
      '{"id":"d","interface":"V1_NFT","error":"kept as a member"}',
      '{"id":"e","error":null}',
    ];
    const answer = parseAnswer(answerBody(entries), many, (text) => text.replaceAll('the-key', '***'));
    if (answer.kind !== 'records' || answer.records === undefined) throw new Error('no records');
    expect(idsIn(answer.records)).toEqual(['d', 'e']);
    expect(answer.errors).toEqual([
      { id: 'a', notFound: true, message: 'error -32000: Asset not found' },
      { id: 'b', notFound: false, message: 'no luck with ***' },
      { id: 'c', notFound: false, message: '{"odd":12345678901234567890}' },
    ]);
    expect(answer).toMatchObject({ idless: 0, hasUnmatched: false });
  });

  it('takes an empty object for nothing, and anything else without an id for a record that cannot be matched', () => {
    expect(records(answerBody(['{}', 'null']))).toMatchObject({ idless: 1, hasUnmatched: false });
    for (const odd of ['{"id":null,"interface":"V1_NFT"}', '{"burnt":false}', '7', '[]'])
      expect(records(answerBody(['{}', odd]))).toMatchObject({ idless: 2, hasUnmatched: true });
  });

  it('hands an error object over', () => {
    const body =
      '{"jsonrpc":"2.0","error":{"code":-32000,"message":"a","details":"b","data":{"backoff_seconds":2.50}},"result":null,"id":1}';
    expect(parseAnswer(Buffer.from(body), many)).toEqual({
      kind: 'error',
      error: { code: -32000, event: undefined, words: 'a: b', backoffSeconds: 2.5 },
      responseId: 1,
    });
  });

  it.each([
    ['nothing', ''],
    ['HTML', '<html><body>{"result":[]}</body></html>'],
    ['an array', '[{"jsonrpc":"2.0","result":[],"id":1}]'],
    ['a null', 'null'],
    ['no member', '{}'],
    ['a null result', '{"jsonrpc":"2.0","result":null,"id":1}'],
    ['a scalar result', '{"jsonrpc":"2.0","result":0,"id":1}'],
    ['a string result', '{"jsonrpc":"2.0","result":"[]","id":1}'],
    ['an object result', '{"jsonrpc":"2.0","result":{"items":[]},"id":1}'],
    ['no result', '{"jsonrpc":"2.0","id":1}'],
    ['no version', '{"result":[],"id":1}'],
    ['another version', '{"jsonrpc":"1.0","result":[],"id":1}'],
    ['both result and error', '{"jsonrpc":"2.0","result":[],"error":{"code":1,"message":"x"},"id":1}'],
    ['two results', '{"jsonrpc":"2.0","result":[],"result":[{"id":"a"}],"id":1}'],
    ['an error of text', '{"jsonrpc":"2.0","error":"no","id":1}'],
    ['an error that says nothing', '{"jsonrpc":"2.0","error":{},"id":1}'],
    ['more behind it', '{"jsonrpc":"2.0","result":[],"id":1}{}'],
    ['a comma too many', '{"jsonrpc":"2.0","result":[null,],"id":1}'],
    ['a comma too few', '{"jsonrpc":"2.0","result":[{"id":"a"}{"id":"b"}],"id":1}'],
    ['a last comma', '{"jsonrpc":"2.0","result":[],}'],
    ['brackets that do not match', '{"jsonrpc":"2.0","result":[{"a":[}],"id":1]}'],
    ['a record that is no JSON', '{"jsonrpc":"2.0","result":[{"id":"a",x:1}],"id":1}'],
    ['another member that is no JSON', '{"jsonrpc":"2.0","result":[],"id":1,"x":tru}'],
    ['unquoted names', '{jsonrpc:"2.0","result":[]}'],
  ])('calls a body with %s malformed', (_, body) => {
    expect(() => parseAnswer(Buffer.from(body), many)).toThrow(MalformedAnswer);
  });

  it('calls an array malformed where getAsset should bring an object', () => {
    expect(() => parseAnswer(answerBody([recordText('a')]), one)).toThrow(MalformedAnswer);
  });

  it('calls invalid UTF-8 malformed', () => {
    const body = Buffer.from(answerBody(['{"id":"aé"}']));
    body[body.indexOf(0xc3)] = 0xff;
    expect(() => parseAnswer(body, many)).toThrow(/UTF-8/);
  });

  it('calls a body cut at any byte malformed', () => {
    const whole = Buffer.from(answerBody([recordText(idOf(1)), 'null', '{"id":"é😀","n":[1.50,{"a":"}]"}]}']));
    for (let cut = 0; cut < whole.length; cut += 1) {
      expect(() => parseAnswer(whole.subarray(0, cut), many), `cut at ${cut}`).toThrow(MalformedAnswer);
    }
  });

  it('reads any JSON as a whole parse does, however it is laid out', () => {
    const element = fc.oneof(
      fc.json(),
      fc.record({ id: fc.string(), x: fc.jsonValue() }).map((each) => JSON.stringify(each)),
    );
    const blanks = fc.constantFrom('', ' ', '\n  ', '\t', '\r\n');
    fc.assert(
      fc.property(fc.array(element, { maxLength: 8 }), blanks, blanks, (elements, before, after) => {
        const body = `{"jsonrpc":"2.0","result":[${before}${elements.join(`${after},${before}`)}${after}],"id":1}`;
        const { result } = JSON.parse(body) as { result: unknown[] };
        const named = result.filter(
          (each) => typeof each === 'object' && each !== null && 'id' in each && typeof each.id === 'string',
        );
        const answer = records(body);
        expect(textsIn(answer.rows).map((text) => JSON.parse(text) as unknown)).toEqual(named);
        expect(answer.rows.count + answer.idless).toBe(result.filter((each) => each !== null).length);
      }),
      fixed,
    );
  });

  it('keeps every digit of any number, wherever it stands', () => {
    const digits = fc.bigInt({ min: 0n, max: 10n ** 23n - 1n }).map(String);
    const decimals = textFrom('0123456789', { minLength: 1, maxLength: 18 }).map((text) => `.${text}`);
    const fraction = fc.oneof(fc.constant(''), decimals);
    const exponent = fc.constantFrom('', '', '', 'e5', 'E+22', 'e-7', 'e400');
    const number = fc.tuple(fc.constantFrom('', '-'), digits, fraction, exponent).map((parts) => parts.join(''));
    fc.assert(
      fc.property(number, number, fc.constantFrom('', ' ', '\n'), (a, b, blank) => {
        const text = `{"id":"x","a":${blank}${a}${blank},"b":[${a},${b}${blank}],"c":{"d":${b}}}`;
        expect(extraOf(records(answerBody([text])).rows)).toBe(stringifyJson(parseJson(text)).replace('"id":"x",', ''));
      }),
      { seed: 9, numRuns: 2000 },
    );
  });

  it('never takes a damaged body for a whole one with other records', () => {
    const whole = Buffer.from(answerBody([recordText(idOf(1)), recordText(idOf(2))]));
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
        const damaged = Buffer.from(whole);
        damaged[at] = byte;
        let expected: unknown;
        try {
          expected = (JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(damaged)) as { result?: unknown })
            .result;
        } catch {
          expect(() => parseAnswer(damaged, many)).toThrow(MalformedAnswer);
          return;
        }
        try {
          const answer = records(damaged);
          expect(textsIn(answer.rows).map((text) => JSON.parse(text) as unknown)).toEqual(
            (expected as { id?: unknown }[]).filter((each) => typeof each.id === 'string'),
          );
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedAnswer);
        }
      }),
      { seed: 8, numRuns: 2000 },
    );
  });

  it('calls an answer of far more records than were asked for malformed', () => {
    const few = answerBody(Array.from({ length: 10_020 }, () => '{"id":""}'));
    const answer = parseAnswer(few, batchCall(idsOf(2)));
    expect(answer.kind === 'records' && answer.records?.count).toBe(10_020);
    for (const element of ['{"id":""}', 'null', '1']) {
      const many = answerBody(Array.from({ length: 10_021 }, () => element));
      expect(() => parseAnswer(many, batchCall(idsOf(2)))).toThrow('malformed answer: more than 10020 records');
    }
  });

  it('counts what it makes of odd records over the whole answer', () => {
    const odd = `{"id":"a","7":[${'[],'.repeat(500)}0]}`;
    expect(records(answerBody(Array.from({ length: 450 }, () => odd))).rows.count).toBe(450);
    const many = answerBody(Array.from({ length: 550 }, () => odd));
    expect(() => parseAnswer(many, batchCall(idsOf(2)))).toThrow('malformed answer: more than 501000 values');
  });

  it('takes a record that is nested a hundred thousand deep for an error, and reads the others', () => {
    const deep = `{"id":"a","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const answer = parseAnswer(answerBody([deep, '{"id":"b"}']), batchCall(idsOf(2)));
    if (answer.kind !== 'records' || answer.records === undefined) throw new Error('no records');
    expect(idsIn(answer.records)).toEqual(['b']);
    expect(answer.errors.map(({ id }) => id)).toEqual(['a']);
  });

  const real = new URL('../../../../../shared/data/real-assets.jsonl', import.meta.url);
  it.skipIf(!existsSync(real))('gives real records back as they were sent', () => {
    const texts = readFileSync(real, 'utf8').trim().split('\n');
    expect(textsIn(records(answerBody(texts)).rows)).toEqual(texts);
  });
});
