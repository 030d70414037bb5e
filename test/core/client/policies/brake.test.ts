import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AssetCall, AttemptError } from '../../../../src/core/client/asset-client.ts';
import { Brake } from '../../../../src/core/client/policies/brake.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { budgeted, outcomes, times } from '../support/budgeted.ts';
import { batchCall, idOf, idsOf, recordsOf, refusal } from '../support/calls.ts';
import { settled } from '../../../support/fake-clock.ts';
import { alwaysClient, heldClient, scriptedClient } from '../support/scripted-client.ts';

const unavailable = new AttemptError('transport', 'HTTP 503', { status: 503 });
const unsent = new AttemptError('transport', 'connection refused', { unsent: true });

function brakeOf(overrun: { percent: number; calls: number } | undefined, idsPerCall = 10): Brake {
  const brake = new Brake({ overrun });
  brake.begin({ idsPerCall });
  return brake;
}

/** Has attempts of a call made until one is refused by the brake; resolves to how many there were. */
async function attemptsOf(client: ReturnType<typeof budgeted>['client'], call: AssetCall): Promise<number> {
  for (let attempts = 0; ; attempts += 1) {
    const error: unknown = await client.ask(call).catch((reason: unknown) => reason);
    if (error instanceof ExportError && error.exit === 'overrun') return attempts;
    if (attempts > 1000) return attempts;
  }
}

describe('a run whose service refuses everything', () => {
  it('ends with the call that would be more than planned and the overrun, and sends nothing after it', async () => {
    const inner = alwaysClient(unavailable);
    const { client, ledger } = budgeted(inner, { brake: brakeOf({ percent: 50, calls: 250 }, 1000) });
    const call = batchCall(idsOf(1000));
    expect(await attemptsOf(client, call)).toBe(251);
    expect(inner.asked).toHaveLength(251);
    expect(await ledger.booked('2026-03-14')).toBe(251 * 160);
    await expect(client.ask(batchCall(idsOf(10)))).rejects.toMatchObject({ exit: 'overrun' });
    expect(inner.asked).toHaveLength(251);
  });

  it('says what was planned and sent, what failed last, which ids are bad, and what to do', async () => {
    const failing = [unavailable, new AttemptError('transport', 'reset'), unavailable, refusal('id', 'bad id')];
    const brake = brakeOf({ percent: 0, calls: 4 });
    const { client } = budgeted(scriptedClient([...failing, unavailable]), { brake });
    for (const n of [1, 2, 3, 4, 5]) await client.ask(batchCall(idsOf(10))).catch(() => n);
    brake.foundBadId();
    const repeated = { ...batchCall(idsOf(5)), repeats: true as const };
    const ends: unknown[] = [];
    for (let n = 0; n < 5; n += 1) ends.push(await client.ask(repeated).catch((error: unknown) => error));
    expect(ends.filter((end) => end instanceof ExportError)).toHaveLength(1);
    expect(ends.at(-1)).toMatchObject({
      exit: 'overrun',
      exitCode: 10,
      message:
        '5 calls were planned so far and 9 sent: the service refuses most of them. Last errors: HTTP 503; bad id; reset. Bad ids found so far: 1.',
      todo: 'When the service works, run the same command again: it resumes. To allow more calls, raise budget.overrun, for example --overrun 50%,1000.',
      facts: { planned: 5, sent: 9, badIds: 1 },
    });
  });

  it('ends at price 0 too, and never where there is no limit', async () => {
    const free = budgeted(alwaysClient(unavailable), { brake: brakeOf({ percent: 0, calls: 5 }), creditsPerCall: 0 });
    expect(await attemptsOf(free.client, batchCall(idsOf(3)))).toBe(6);
    const endless = budgeted(alwaysClient(unavailable), { brake: brakeOf(undefined) });
    expect(await attemptsOf(endless.client, batchCall(idsOf(3)))).toBeGreaterThan(1000);
  });

  it('says which size the service takes, and how many calls that are', async () => {
    const brake = brakeOf({ percent: 50, calls: 2 }, 1000);
    const { client } = budgeted(scriptedClient(), { brake });
    await client.ask(batchCall(idsOf(1000)));
    brake.learned(100);
    const pieces = times(10, () => ({ ...batchCall(idsOf(100)), repeats: true as const }));
    const ends: unknown[] = [];
    for (const piece of pieces) ends.push(await client.ask(piece).catch((error: unknown) => error));
    expect(ends.at(-1)).toMatchObject({
      message:
        '1 call was planned so far and 3 sent: the service takes at most 100 ids per call, not 1,000, so the ids so far need 10 calls.',
      todo: expect.stringMatching(
        /plan prints the calls that are left: allow them with --overrun N .* set service.idsPerCall: 100/,
      ) as string,
    });
  });
});

describe('what counts as planned', () => {
  const strict = { percent: 0, calls: 0 };

  it('is each batch, also a small one, and each single call', async () => {
    const { client } = budgeted(scriptedClient(), { brake: brakeOf(strict) });
    const calls = times(20, () => batchCall([idOf(1)]));
    expect(await outcomes(calls.map((call) => client.ask(call)))).toEqual(times(20, () => 'answered'));
  });

  it('are the ids of the pieces of a batch that was not sent, together', async () => {
    const { client } = budgeted(scriptedClient(), { brake: brakeOf({ percent: 0, calls: 1 }) });
    const piece = (): ReturnType<typeof batchCall> => ({ ...batchCall(idsOf(5)), pieceOf: { isSuspected: false } });
    // Worth half a call each: two calls are planned with the third and the fourth.
    const ends: string[] = [];
    for (let n = 0; n < 6; n += 1) ends.push(...(await outcomes([client.ask(piece())])));
    expect(ends).toEqual(['answered', 'answered', 'answered', 'overrun', 'overrun', 'overrun']);
  });

  it('are no ids a second time: neither those of another attempt nor of the pieces of a call that was sent', async () => {
    const { client } = budgeted(scriptedClient([unavailable]), { brake: brakeOf({ percent: 0, calls: 2 }) });
    const call = batchCall(idsOf(10));
    await expect(client.ask(call)).rejects.toBe(unavailable);
    expect(await outcomes([client.ask(call)])).toEqual(['answered']);
    const piece = { ...batchCall(idsOf(5)), pieceOf: { isSuspected: false }, repeats: true as const };
    for (const end of ['answered', 'overrun']) expect(await outcomes([client.ask({ ...piece })])).toEqual([end]);
  });

  it('are all calls that were counted before the first one', async () => {
    const brake = new Brake({ overrun: { percent: 50, calls: 0 } });
    brake.begin({ idsPerCall: 10, planned: 4 });
    const { client } = budgeted(alwaysClient(unavailable), { brake });
    expect(await attemptsOf(client, batchCall(idsOf(10)))).toBe(6);
  });

  it('is no more after the service refused larger calls', async () => {
    const brake = brakeOf({ percent: 0, calls: 4 });
    const { client } = budgeted(scriptedClient(), { brake });
    brake.learned(1);
    const piece = () => ({ ...batchCall([idOf(1)]), pieceOf: { isSuspected: false } });
    const ends: string[] = [];
    for (let n = 0; n < 7; n += 1) ends.push(...(await outcomes([client.ask(piece())])));
    expect(ends.filter((end) => end === 'answered')).toHaveLength(5);
  });

  it('is nothing that did not leave, was held, could not be booked or cost nothing', async () => {
    let mayLeave = false;
    const busy = new AttemptError('pace', '429', { status: 429 });
    const inner = scriptedClient([unsent, busy]);
    const brake = brakeOf(strict);
    const { client } = budgeted(inner, { brake, freeStatuses: [429], mayLeave: () => mayLeave, creditsPerRun: 160 });
    const call = batchCall(idsOf(10));
    for (let n = 0; n < 9; n += 1) await expect(client.ask(call)).rejects.toMatchObject({ failure: 'held' });
    mayLeave = true;
    await expect(client.ask(call)).rejects.toBe(unsent);
    await expect(client.ask(call)).rejects.toBe(busy);
    expect(await outcomes([client.ask(call)])).toEqual(['answered']);
    for (let n = 0; n < 9; n += 1)
      await expect(client.ask(batchCall(idsOf(10)))).rejects.toMatchObject({ exit: 'spent' });
    expect(inner.asked).toHaveLength(3);
  });
});

// Promise, Nothing overspent: Whatever the service does, a run sends at most planned calls and `budget.overrun`
it('the calls that leave are never more than their ids are worth and the overrun, in whatever order', async () => {
  const step = fc.record({
    ids: fc.integer({ min: 1, max: 10 }),
    kind: fc.constantFrom('whole', 'piece', 'repeat', 'again'),
    fate: fc.constantFrom('answered', 'failed', 'unsent'),
  });
  const overrun = fc.record({ percent: fc.integer({ min: 0, max: 100 }), calls: fc.nat(4) });
  let stopped = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), overrun, async (steps, limit) => {
      const planned = new Map<AssetCall, number>();
      let fate: string;
      let sent = 0;
      const inner = alwaysClient((asked) => {
        if (fate === 'unsent') return unsent;
        sent += 1;
        const worth = asked.pieceOf === undefined ? 10 : asked.ids.length;
        planned.set(asked, asked.repeats === true ? 0 : worth);
        return fate === 'failed' ? unavailable : recordsOf(asked);
      });
      const { client } = budgeted(inner, { brake: brakeOf(limit) });
      let call = batchCall(idsOf(1));
      for (const each of steps) {
        fate = each.fate;
        if (each.kind !== 'again') call = callOf(each);
        const before = sent;
        const error: unknown = await client.ask(call).catch((reason: unknown) => reason);
        const worth = [...planned.values()].reduce((sum, ids) => sum + ids, 0);
        const most = Math.floor((Math.ceil(worth / 10) * (100 + limit.percent)) / 100) + limit.calls;
        expect(sent).toBeLessThanOrEqual(most);
        if (!(error instanceof ExportError)) continue;
        expect(error.exit).toBe('overrun');
        // Not too early either: this call would have been one too many.
        if (planned.has(call) || call.repeats === true) expect(before).toBe(most);
        stopped += 1;
        return;
      }
    }),
    { seed: 7, numRuns: 300 },
  );
  expect(stopped).toBeGreaterThan(50);
});

function callOf({ ids, kind }: { readonly ids: number; readonly kind: string }): AssetCall {
  const call = batchCall(idsOf(ids));
  if (kind === 'whole') return call;
  return { ...call, pieceOf: { isSuspected: false }, ...(kind === 'repeat' ? { repeats: true } : {}) };
}

it('calls that wait for their turn count, and give way again when the run is stopped', async () => {
  const stop = new AbortController();
  const brake = brakeOf({ percent: 0, calls: 0 });
  const paced = budgeted(heldClient(), { brake, creditsPerSecond: 160, stop: stop.signal });
  const work = times(3, () => paced.client.ask(batchCall(idsOf(10))).catch((error: unknown) => error));
  await settled();
  stop.abort(new Error('SIGTERM'));
  await settled();
  // One is in flight; the two that waited planned and sent nothing.
  const after = budgeted(scriptedClient(), { brake });
  const again = { ...batchCall(idsOf(10)), repeats: true as const };
  await expect(after.client.ask(again)).rejects.toMatchObject({ facts: { planned: 1, sent: 1 } });
  expect(work).toHaveLength(3);
});
