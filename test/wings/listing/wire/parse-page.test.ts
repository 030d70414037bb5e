import { describe, expect, it } from 'vitest';
import { MalformedAnswer } from '../../../../src/core/client/wire/parse-answer.ts';
import { parsePage, parseTotal } from '../../../../src/wings/listing/index.ts';
import { generatedId, generatedRecord } from '../../../../packages/practice-service/src/generated/generated-assets.ts';

const ids = Array.from({ length: 3 }, (_, index) => generatedId(42, index));
const [one = '', two = '', three = ''] = ids;
const same = (text: string): string => text;

function answer(result: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":5,"result":${result}}`);
}

function page(result: string) {
  const parsed = parsePage(answer(result), 1000, same);
  if (parsed.kind !== 'page') throw new Error('no page');
  return parsed;
}

describe('an answer with a page', () => {
  it('has the records as they came, byte for byte', () => {
    const texts = ids.map(generatedRecord);
    const parsed = page(`{"total":3,"limit":1000,"items":[${texts.join(' , ')}],"later":{"a":[1]}}`);
    expect(parsed.records.map(({ id }) => id)).toEqual(ids);
    expect(parsed.records.map(({ record }) => Buffer.from(record).toString())).toEqual(texts);
    expect(parsed).toMatchObject({ errors: [], total: undefined, cursor: undefined, responseId: 5 });
  });

  it('has each record on one line', () => {
    const parsed = page(`{"items":[{\n  "id": "${one}",\r\n  "x": "a\\nb"\n}]}`);
    expect(Buffer.from(parsed.records[0]?.record ?? []).toString()).toBe(`{  "id": "${one}",  "x": "a\\nb"}`);
  });

  it('has errors in place of records, with the words of the service', () => {
    const entries = `{"id":"${two}","error":"Data not found"},{"id":"${three}","error":{"code":-32004,"message":"gone k3y"}}`;
    const parsed = parsePage(
      answer(`{"items":[{"id":"${one}","error":{"code":1,"message":"odd"}}],"errors":[${entries}],"cursor":""}`),
      1000,
      (text) => text.replaceAll('k3y', '***'),
    );
    expect(parsed).toMatchObject({
      records: [],
      errors: [
        { id: one, message: 'error 1: odd' },
        { id: two, message: 'Data not found' },
        { id: three, message: 'error -32004: gone ***' },
      ],
    });
  });

  it('keeps a record that has an error besides', () => {
    const text = `{"interface":"V1_NFT","id":"${one}","error":"no content"}`;
    expect(page(`{"items":[${text}]}`).records).toHaveLength(1);
  });

  it('has the total of all members and the token of the next page, and never the total of the page', () => {
    expect(page('{"total":1,"grand_total":25000,"items":[],"cursor":"abc"}')).toMatchObject({
      total: 25_000,
      cursor: 'abc',
    });
    expect(page('{"total":1,"items":[],"cursor":null,"grand_total":null}')).toMatchObject({ total: undefined });
  });

  it('may be an error object', () => {
    const body = Buffer.from('{"jsonrpc":"2.0","id":5,"error":{"code":-32000,"message":"no such method"}}');
    expect(parsePage(body, 1000, same)).toMatchObject({ kind: 'error', error: { words: 'no such method' } });
    expect(parseTotal(body)).toMatchObject({ kind: 'error', error: { words: 'no such method' } });
  });

  it.each([
    ['[]', 'the page has no items'],
    ['null', 'the page has no items'],
    ['{"total":0}', 'the page has no items'],
    ['{"items":null}', 'its items are not one list'],
    ['{"items":[],"items":[]}', 'its items are not one list'],
    ['{"items":[null]}', 'an item is not an object'],
    ['{"items":[{"interface":"V1_NFT"}]}', 'a member has no id'],
    ['{"items":[{"id":7}]}', 'the id of a member is not one of 32 bytes'],
    ['{"items":[{"id":"abc"}]}', 'the id of a member is not one of 32 bytes'],
    [`{"items":[{"id":"${one}"}`, 'an incomplete array'],
    [`{"items":[{"id":"${one}",]}`, 'an incomplete JSON object'],
    ['{"items":[],"errors":["x"]}', 'an entry of its errors is not an object'],
    ['{"items":[],"errors":[{"error":"x"}]}', 'a member has no id'],
    ['{"items":[],"grand_total":-1}', 'its grand_total is no count'],
    ['{"items":[],"grand_total":"7"}', 'its grand_total is no count'],
    ['{"items":[],"cursor":7}', 'its cursor is no text'],
  ])('with the result %s is malformed', (result, message) => {
    expect(() => page(result)).toThrow(new MalformedAnswer(message));
  });

  it('with far more items than were requested is malformed, before they take memory', () => {
    const items = Array.from({ length: 1001 }, () => `{"id":"${one}"}`).join(',');
    expect(() => parsePage(answer(`{"items":[${items}]}`), 100, same)).toThrow('more than 1000 records');
  });

  it('cut at any byte is malformed', () => {
    const whole = answer(
      `{"total":1,"items":[{"id":"${one}","x":[1,{"y":"z"}]}],"errors":[{"id":"${two}","error":"x"}]}`,
    );
    for (let length = 0; length < whole.length; length += 1)
      expect(() => parsePage(whole.subarray(0, length), 1000, same)).toThrow(MalformedAnswer);
  });
});

describe('an answer with a total', () => {
  it('has the size of the group', () => {
    const body = answer(`{"group_key":"collection","group_name":"${one}","group_size":25000}`);
    expect(parseTotal(body)).toEqual({ kind: 'total', total: 25_000, responseId: 5 });
  });

  it.each(['{}', '7', '{"group_size":1.5}', '{"group_size":null}'])('is malformed without one: %s', (result) => {
    expect(() => parseTotal(answer(result))).toThrow(MalformedAnswer);
  });
});
