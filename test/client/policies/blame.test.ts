import { describe, expect, it } from 'vitest';
import { IdList } from '../../../src/ids/id-list.ts';
import type { AssetCall } from '../../../src/client/asset-client.ts';
import { AttemptError } from '../../../src/client/attempt-error.ts';
import { lookUpBatch } from '../../../src/client/look-up-batch.ts';
import { withRetry } from '../../../src/client/policies/with-retry.ts';
import { idsOf, noFlags, recordsOf, rowReader } from '../support/calls.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { alwaysClient } from '../support/scripted-client.ts';

const retries = 8;
const ids = idsOf(1000);
const hang = new AttemptError('transient', 'no complete answer within 60 s');
const failing = new AttemptError('transient', 'HTTP 500: Internal Server Error', { status: 500 });

/** Looks batches up, side by side, where calls end as the service says. */
async function lookUp(answer: (call: AssetCall, n: number) => AttemptError | undefined, batches: readonly string[][]) {
  const inner = alwaysClient((call, n) => answer(call, n) ?? recordsOf(call));
  const clock = createFakeClock();
  const client = withRetry(inner, { retries, clock, random: () => 0.5 });
  const work = batches.map((batch) =>
    lookUpBatch(client, { ids: IdList.of(batch), flags: noFlags, part: 0, singles: false, reader: rowReader }),
  );
  const ends = await clock.runUntil(Promise.allSettled(work));
  const failed = ends.flatMap((end, n) =>
    end.status === 'rejected'
      ? []
      : [...end.value.lookups].flatMap((lookup, place) => (lookup.kind === 'failed' ? [batches[n]?.[place]] : [])),
  );
  return { asked: inner.asked, ends, failed };
}

function holding(error: AttemptError, ...poison: readonly (string | undefined)[]) {
  return ({ ids: asked }: AssetCall) => (poison.some((id) => [...asked].includes(id ?? '')) ? error : undefined);
}

describe('an id whose calls always end in a failure of the service', () => {
  it.each([
    ['a hang', hang],
    ['a 500', failing],
  ])('(%s) is found by halving while other calls go well', async (_, error) => {
    const { asked, failed } = await lookUp(holding(error, ids[617]), [ids, idsOf(500, 1000), idsOf(500, 1500)]);
    expect(failed).toEqual([ids[617]]);
    // Two others; the whole, once of it before they were answered; ten times both halves; the id alone once more.
    expect(asked.length).toBeLessThanOrEqual(2 + 3 + 20 + 1);
  });

  it('is found in a lone call too', async () => {
    const { asked, failed } = await lookUp(holding(hang, ids[617]), [ids]);
    expect(failed).toEqual([ids[617]]);
    expect(asked.length).toBeLessThanOrEqual(24);
  });

  it('is found where two of them stand in both halves of a lone call', async () => {
    expect((await lookUp(holding(hang, ids[100], ids[800]), [ids])).failed).toEqual([ids[100], ids[800]]);
  });
});

describe('a service that answers nothing', () => {
  it.each([
    ['from the beginning', 0],
    ['after a while', 3],
  ])('(%s) ends the run after the retries, and no id is blamed', async (_, good) => {
    const batches = Array.from({ length: 8 }, (__, n) => idsOf(100, 100 * n));
    const { asked, ends, failed } = await lookUp((___, n) => (n < good ? undefined : failing), batches);
    expect(failed).toEqual([]);
    expect(ends.filter((end) => end.status === 'rejected')).toHaveLength(8 - good);
    expect(ends.at(-1)).toMatchObject({ reason: { exit: 'unavailable' } });
    expect(asked.length).toBeLessThanOrEqual(good + (8 - good) * (retries + 1) + 4 * (retries + 1));
  });

  it('costs few calls more than a retry when it comes back', async () => {
    const batches = Array.from({ length: 8 }, (_, n) => idsOf(100, 100 * n));
    const { asked, failed } = await lookUp((_, n) => (n >= 4 && n < 24 ? failing : undefined), batches);
    expect(failed).toEqual([]);
    expect(asked.length).toBeLessThanOrEqual(8 + 20 + 4);
  });

  it('blames no id that is asked for alone, when its call fails by chance', async () => {
    let n = 0;
    const single = idsOf(40).map((id) => [id]);
    const { failed } = await lookUp(() => (n++ % 2 === 0 ? failing : undefined), single);
    expect(failed).toEqual([]);
  });
});
