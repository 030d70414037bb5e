import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { idSource } from '../../bench/load/ids.ts';
import { PreparedAnswers } from '../../bench/load/prepared-answers.ts';
import { recordsOf } from '../../bench/load/records.ts';
import { isAssetId } from '../../src/lib/ids/asset-id.ts';
import { tempFolder } from '../support/temp-folder.ts';

const answers = new PreparedAnswers(1, recordsOf(''));
const nextId = idSource();

function idsOf(count: number): string[] {
  return Array.from({ length: count }, nextId);
}

function requestFor(ids: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAssets', params: [ids] }));
}

function askedOf(pieces: readonly Buffer[]): string[] {
  const { result } = JSON.parse(Buffer.concat(pieces).toString()) as { result: { id: string }[] };
  return result.map(({ id }) => id);
}

describe('the load server', () => {
  it.each([1, 17, 1000])('answers %i ids with their records, in order', (count) => {
    const ids = idsOf(count);
    const answer = answers.answer(requestFor(ids));
    expect(askedOf(answer?.pieces ?? [])).toEqual(ids);
    answer?.done();
  });

  it('answers with the records of a file, again and again, each with the id that was asked for', async () => {
    const file = join(await tempFolder(), 'records.jsonl');
    const line = (id: string, name: string): string => JSON.stringify({ id, name, mint: id });
    writeFileSync(file, `${line('Old1', 'one')}\n${line('Old22', 'two')}\n`);
    const ids = idsOf(3);
    const answer = new PreparedAnswers(1, recordsOf(file)).answer(requestFor(ids));
    const { result } = JSON.parse(Buffer.concat(answer?.pieces ?? []).toString()) as { result: unknown };
    expect(result).toEqual(ids.map((id, n) => ({ id, name: ['one', 'two', 'one'][n], mint: id })));
  });

  it('leaves an answer alone that is on its way', () => {
    const [first, second] = [idsOf(5), idsOf(5)];
    const leaving = answers.answer(requestFor(first));
    expect(askedOf(answers.answer(requestFor(second))?.pieces ?? [])).toEqual(second);
    expect(askedOf(leaving?.pieces ?? [])).toEqual(first);
    leaving?.done();
  });

  it('answers the same call alike each time', () => {
    const request = requestFor(idsOf(3));
    const bodies = [1, 2].map(() => {
      const answer = answers.answer(request);
      const body = Buffer.concat(answer?.pieces ?? []).toString();
      answer?.done();
      return body;
    });
    expect(bodies[0]).toBe(bodies[1]);
  });

  it('refuses what is no call of the bench', () => {
    expect(answers.answer(Buffer.from('{}'))).toBeUndefined();
    expect(answers.answer(requestFor(['1'.repeat(32)]))).toBeUndefined();
    expect(answers.answer(requestFor(idsOf(1001)))).toBeUndefined();
  });

  it('is asked for ids that are valid', () => {
    expect(idsOf(1000).every(isAssetId)).toBe(true);
  });
});
