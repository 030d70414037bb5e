import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../../src/client/attempt-error.ts';
import type { ClientEvent } from '../../../src/client/client-events.ts';
import { longestWaitMs } from '../../../src/client/policies/first-answer.ts';
import type { TriesOptions } from '../../../src/client/policies/tries.ts';
import { withRetry } from '../../../src/client/policies/with-retry.ts';
import { IdList } from '../../../src/ids/id-list.ts';
import { lookUpBatch } from '../../../src/client/look-up-batch.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import { batchCall, idOf, idsOf, noFlags, recordsOf, refusal, rowReader } from '../support/calls.ts';
import { createFakeClock, type FakeClock, settled } from '../../support/fake-clock.ts';
import { alwaysClient, heldClient, scriptedClient, type ScriptedClient } from '../support/scripted-client.ts';

const call = batchCall(idsOf(3));
const reset = new AttemptError('transient', 'connection reset');
const busy = new AttemptError('throttled', 'too many requests', { status: 429 });
const one = batchCall([idOf(0)]);
const odd = new AttemptError('doubtful', 'error -32603: Internal error', { status: 200 });

function retrying(
  inner: ScriptedClient,
  options: Partial<TriesOptions> = {},
): { clock: FakeClock; ask: (c?: typeof call) => Promise<unknown>; events: ClientEvent[] } {
  const clock = createFakeClock();
  const events: ClientEvent[] = [];
  const client = withRetry(inner, {
    retries: 8,
    clock,
    random: () => 0.5,
    listener: (event) => events.push(event),
    ...options,
  });
  return { clock, events, ask: (asked = call) => clock.runUntil(client.ask(asked)) };
}

async function failureOf(work: Promise<unknown>): Promise<ExportError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ExportError)) throw new Error('It does not fail as it should.', { cause: error });
  return error;
}

describe('withRetry', () => {
  it('asks again after a transient failure', async () => {
    const inner = scriptedClient([reset, reset]);
    expect(await retrying(inner).ask(one)).toEqual(recordsOf(one));
    expect(inner.asked).toEqual([one, one, one]);
  });

  it('waits twice as long at most each time, up to 30 s, by full jitter', async () => {
    const { ask, events } = retrying(alwaysClient(reset), { retries: 9, random: () => 0.5 });
    await failureOf(ask(one));
    const waits = events.flatMap((event) => (event.kind === 'retry' ? [event.waitMs] : []));
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
  });

  it('gives up as unavailable after the retries, saying what, how often, why, and what to do', async () => {
    const inner = alwaysClient(reset);
    const error = await failureOf(retrying(inner, { retries: 2 }).ask(one));
    expect(inner.asked).toHaveLength(3);
    expect(error).toMatchObject({ exit: 'unavailable', cause: reset, facts: { attempts: 3, ids: 1 } });
    expect(error.message).toBe(
      `No answer to a call of the id ${idOf(0)} after 3 attempts; last error: connection reset.`,
    );
    expect(error.todo).toMatch(/same command/);
  });

  it('does not retry with no retries', async () => {
    const inner = alwaysClient(reset);
    await failureOf(retrying(inner, { retries: 0 }).ask());
    expect(inner.asked).toHaveLength(1);
  });

  it('leaves the wait of a throttled call to those who hold the slots', async () => {
    const { ask, clock } = retrying(scriptedClient([busy, busy]));
    const before = clock.now();
    await ask();
    expect(clock.now()).toBe(before);
  });

  it('gives up on being throttled only while nothing gets through', async () => {
    const alone = alwaysClient(busy);
    expect(await failureOf(retrying(alone).ask())).toMatchObject({ exit: 'unavailable' });
    expect(alone.asked).toHaveLength(9);

    const clock = createFakeClock();
    const inner = alwaysClient(async (asked, n) => {
      await clock.sleep(10);
      return asked.ids.length === 1 || n > 100 ? recordsOf(asked) : busy;
    });
    const client = withRetry(inner, { retries: 2, clock, random: () => 0.5 });
    const others = (async () => {
      for (let n = 0; n < 60; n += 1) await client.ask(batchCall([idOf(n)]));
    })();
    await clock.runUntil(Promise.all([client.ask(call), others]));
    expect(inner.asked.filter((asked) => asked === call).length).toBeGreaterThan(10);
  });

  it('takes a doubtful error that stays for a refusal of this call, after two retries', async () => {
    const inner = scriptedClient([recordsOf(one), odd, odd, odd]);
    const { ask } = retrying(inner);
    await ask(one);
    expect(await ask()).toMatchObject({ kind: 'refused', why: 'id', message: odd.message, doubtful: true });
    expect(inner.asked).toHaveLength(4);
  });

  it('tries a piece of a call that was refused doubtfully once, as its halves tell more', async () => {
    const inner = scriptedClient([recordsOf(one), odd]);
    const { ask } = retrying(inner);
    await ask(one);
    expect(await ask({ ...call, pieceOf: { failed: { attempts: 1, answered: 0 } } })).toMatchObject({ doubtful: true });
    expect(inner.asked).toHaveLength(2);
  });

  it('spends all retries on a doubtful error whose words promise an end', async () => {
    const inner = alwaysClient(new AttemptError('doubtful', 'statement timeout', { patient: true }));
    expect(await retrying(inner).ask()).toMatchObject({ kind: 'refused', doubtful: true });
    expect(inner.asked).toHaveLength(9);
  });

  it.each([1, 8])(
    'calls the service broken after three calls when it refuses all from the first on, %i at once',
    async (count) => {
      const inner = alwaysClient(odd);
      const clock = createFakeClock();
      const client = withRetry(inner, { retries: 8, clock, random: () => 0.5 });
      const search = (from: number) =>
        lookUpBatch(client, {
          ids: IdList.of(idsOf(9, from)),
          flags: noFlags,
          part: 0,
          singles: false,
          reader: rowReader,
        });
      const work = Promise.allSettled(Array.from({ length: count }, (_, n) => search(10 * n)));
      const [first] = await clock.runUntil(work);
      const error = await failureOf(
        first?.status === 'rejected' ? Promise.reject(first.reason as Error) : Promise.resolve(),
      );
      expect(error).toMatchObject({ exit: 'unavailable', cause: odd });
      expect(error.message).toContain('refused 3 calls in a row for an unknown reason');
      expect(error.todo).toContain('asset-export get');
      expect(inner.asked.slice(0, 3).map(({ ids }) => ids.length)).toEqual([9, 1, 1]);
    },
  );

  it('goes on after a first call that one id spoils for an unknown reason', async () => {
    const ids = idsOf(9);
    for (const poison of ids) {
      const inner = alwaysClient((asked) => ([...asked.ids].includes(poison) ? odd : recordsOf(asked)));
      const clock = createFakeClock();
      const client = withRetry(inner, { retries: 8, clock, random: () => 0.5 });
      const batch = { ids: IdList.of(ids), flags: noFlags, part: 0, singles: false, reader: rowReader };
      const { lookups } = await clock.runUntil(lookUpBatch(client, batch));
      expect([...lookups].map(({ kind }) => kind)).toEqual(ids.map((id) => (id === poison ? 'failed' : 'found')));
    }
  });

  it('lets the others go when the first answer is slow', async () => {
    const inner = heldClient();
    const clock = createFakeClock();
    const client = withRetry(inner, { retries: 8, clock, random: () => 0.5 });
    const work = Promise.all(Array.from({ length: 5 }, (_, n) => client.ask(batchCall([idOf(n)]))));
    await clock.advance(longestWaitMs - 1);
    expect(inner.open).toHaveLength(1);
    await clock.advance(1);
    expect(inner.open).toHaveLength(5);
    for (const { end } of inner.open) end();
    await work;
  });

  it('sends one call at a time until one was answered, and then all', async () => {
    const inner = heldClient();
    const client = withRetry(inner, { retries: 8, clock: createFakeClock(), random: () => 0.5 });
    const work = Promise.all(Array.from({ length: 5 }, (_, n) => client.ask(batchCall([idOf(n)]))));
    await settled();
    expect(inner.open).toHaveLength(1);
    inner.open[0]?.end();
    await settled();
    expect(inner.open).toHaveLength(5);
    for (const { end } of inner.open) end();
    await work;
  });

  it('calls the service broken after 64 doubtful refusals in a row behind a success', async () => {
    const poison = idOf(666);
    const { ask } = retrying(alwaysClient((asked) => ([...asked.ids].includes(poison) ? odd : recordsOf(asked))));
    expect(await ask()).toMatchObject({ kind: 'records' });
    for (let n = 0; n < 63; n += 1) expect(await ask(batchCall([poison]))).toMatchObject({ doubtful: true });
    expect(await failureOf(ask(batchCall([poison])))).toMatchObject({ exit: 'unavailable', cause: odd });
  });

  it('forgives doubtful refusals as soon as a call succeeds', async () => {
    const poison = idOf(666);
    const inner = alwaysClient((asked) => ([...asked.ids].includes(poison) ? odd : recordsOf(asked)));
    const { ask } = retrying(inner);
    for (let n = 0; n < 200; n += 1) {
      if (n % 60 === 0) await ask();
      await ask(batchCall([poison]));
    }
  });

  it('passes refusals and errors of other kinds on at once', async () => {
    const refused = refusal('size');
    expect(await retrying(scriptedClient([refused])).ask()).toBe(refused);
    const spent = new ExportError('spent', 'spent');
    await expect(retrying(scriptedClient([spent])).ask()).rejects.toBe(spent);
  });

  it('begins no attempt after stop, and ends a wait with its reason', async () => {
    const stop = new AbortController();
    const reason = new ExportError('terminated', 'SIGTERM');
    const inner = alwaysClient(reset);
    const clock = createFakeClock();
    const client = withRetry(inner, { retries: 8, clock, random: () => 0.5, stop: stop.signal });
    const waiting = client.ask(call);
    await clock.advance(1);
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(client.ask(call)).rejects.toBe(reason);
    expect(inner.asked).toHaveLength(1);
  });
});
