import { expect, it } from 'vitest';
import { AttemptError } from '../../../../src/core/client/asset-client.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { recordsOf } from '../support/calls.ts';
import { type AnswerOfTest, twentyCalls } from '../../../support/twenty-calls.ts';

const refusals = {
  'a key that is refused': () => new ExportError('notTrusted', 'refused', { why: { kind: 'refused', status: 401 } }),
  'a period that is spent': () => new AttemptError('spent', 'HTTP 402', { status: 402, ofPeriod: true }),
  'a day that is spent': () => new AttemptError('spent', 'HTTP 402', { status: 402 }),
  'a certificate': () => new AttemptError('untrusted', 'not valid for the address', { unsent: true }),
};

/** @param refuses counted from 1 */
function some(refusal: () => Error, refuses: (call: number) => boolean): AnswerOfTest {
  let calls = 0;
  return (call) => {
    calls += 1;
    return refuses(calls) ? (refusal() as AttemptError) : recordsOf(call);
  };
}

it.each(Object.entries(refusals))('%s in one answer of many ends nothing', async (_, refusal) => {
  const { run, sent } = await twentyCalls(some(refusal, (call) => call === 6));
  expect(await run()).toMatchObject({ state: 'complete', account: { counts: { exported: 200 } } });
  expect(sent()).toBe(21);
});

it.each(Object.entries(refusals))(
  '%s ends nothing where answers come between, and blames no id',
  async (_, refusal) => {
    const { run, sent } = await twentyCalls(some(refusal, (call) => call > 5 && call % 3 === 0));
    const outcome = await run({ flags: { concurrency: '1' } });
    expect(outcome).toMatchObject({ state: 'complete', account: { counts: { exported: 200, failed: 0 } } });
    expect(sent()).toBe(28);
  },
);

it.each(Object.entries(refusals))('%s from some call on ends the run with a second one', async (_, refusal) => {
  const { run, sent } = await twentyCalls(some(refusal, (call) => call > 5));
  const exit = refusal().message === 'HTTP 402' ? 'spent' : 'notTrusted';
  expect(await run()).toMatchObject({ state: 'unfinished', error: { exit } });
  expect(sent()).toBeLessThanOrEqual(5 + 3 * 4);
});

it.each(Object.entries(refusals))('%s before any answer ends the run at once', async (_, refusal) => {
  const { run, sent } = await twentyCalls(some(refusal, () => true));
  expect(await run()).toMatchObject({ state: 'unfinished' });
  expect(sent()).toBe(1);
});

it('a cache that gives three calls one answer ends the run, and blames no id', async () => {
  let calls = 0;
  const { run, sent } = await twentyCalls((call) => {
    calls += 1;
    if (calls === 1) return recordsOf(call);
    return new AttemptError('transport', 'the answer belongs to another call', { foreign: true, shows: 'one id' });
  });
  expect(await run()).toMatchObject({
    state: 'unfinished',
    error: { exit: 'unavailable', message: expect.stringContaining('answers from a cache') as string },
    account: { counts: { failed: 0 } },
  });
  expect(sent()).toBeLessThanOrEqual(12);
});
