import { describe, expect, it } from 'vitest';
import {
  type AssetAnswer,
  type AssetCall,
  AttemptError,
  type ClientEvent,
} from '../../../../src/core/client/asset-client.ts';
import { Ended } from '../../../../src/core/client/policies/day-gate.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { batchCall, idOf, idsOf, recordsOf, refusal } from '../support/calls.ts';
import { judged, type JudgedOptions } from '../support/judged.ts';
import { createFakeClock, settled } from '../../../support/fake-clock.ts';
import {
  alwaysClient,
  heldClient,
  type ScriptedClient,
  scriptedClient,
  type Step,
} from '../support/scripted-client.ts';

const reset = new AttemptError('transport', 'connection reset');
const odd = new AttemptError('refusal', 'error -32603: Internal error', { status: 200 });
const one = batchCall([idOf(0)]);
const many = batchCall(idsOf(8));
const calls = Array.from({ length: 40 }, (_, n) => batchCall([idOf(100 + n)]));

function tooFast(waitMs?: number): AttemptError {
  return new AttemptError('pace', 'HTTP 429', { status: 429, waitMs });
}

/** Calls that stay open until the test ends them, behind a first one that was answered. */
async function working(options: JudgedOptions = {}) {
  const clock = createFakeClock();
  const inner = heldClient();
  const events: ClientEvent[] = [];
  const client = judged(inner, { clock, listener: (event) => events.push(event), ...options });
  const first = client.ask(one);
  await settled();
  inner.open.shift()?.end();
  await first;
  const end = (outcome?: AttemptError | AssetAnswer): void => {
    inner.open.shift()?.end(outcome);
  };
  return { clock, client, events, open: inner.open, end };
}

/** What a script brings, with the time jumping over all waits. */
function scripted(steps: readonly Step[] | ScriptedClient, options: JudgedOptions = {}) {
  const clock = createFakeClock();
  const inner = 'ask' in steps ? steps : scriptedClient(steps);
  const events: ClientEvent[] = [];
  const client = judged(inner, { clock, listener: (event) => events.push(event), ...options });
  return { clock, inner, events, ask: (call: AssetCall) => clock.runUntil(client.ask(call)) };
}

async function failureOf(work: Promise<unknown>): Promise<ExportError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ExportError)) throw new Error('It does not fail as it should.', { cause: error });
  return error;
}

describe('the first contact', () => {
  it('keeps one call in flight until the service has answered, however slow it is', async () => {
    const clock = createFakeClock();
    const inner = heldClient();
    const { open } = inner;
    const client = judged(inner, { clock });
    const work = Promise.all(calls.slice(0, 5).map((call) => client.ask(call)));
    await clock.advance(55_000);
    expect(open).toHaveLength(1);
    open[0]?.end();
    await settled();
    expect(open).toHaveLength(5);
    for (const { end } of open) end();
    await work;
  });

  it.each([1, 2, 8])(
    'takes three refused calls for a refusal of their form: two are single ids (%i at once)',
    async (concurrency) => {
      const inner = alwaysClient(odd);
      const clock = createFakeClock();
      const client = judged(inner, { clock, concurrency });
      const work = Promise.allSettled([0, 1, 2].map((n) => client.ask(batchCall(idsOf(9, 10 * n)))));
      const ends = await clock.runUntil(work);
      expect(inner.asked.map(({ ids }) => ids.length)).toEqual([9, 1, 1]);
      expect(new Set(inner.asked.map(({ ids }) => ids.first)).size).toBeGreaterThan(1);
      for (const end of ends)
        expect(end).toMatchObject({ status: 'rejected', reason: { exit: 'unavailable', cause: odd } });
      const error = (ends[0] as PromiseRejectedResult).reason as ExportError;
      expect(error.message).toContain('refuses the form of the calls');
      expect(error.todo).toContain('service.flags');
      expect(error.todo).toContain('asset-export get');
    },
  );

  it('goes the usual way when a single id is answered: the content of the call is at fault', async () => {
    const bad = idOf(3);
    const { ask, inner } = scripted(alwaysClient((asked) => ([...asked.ids].includes(bad) ? odd : recordsOf(asked))));
    expect(await ask(many)).toMatchObject({ kind: 'refused', why: 'id', message: odd.message, doubtful: true });
    expect(inner.asked.length).toBeLessThan(30);
  });

  it('ends at once with what an error means as long as nothing was answered, and takes it for trouble later', async () => {
    const atFirst = new ExportError('notTrusted', 'The service refused the API key.');
    const forbidden = new AttemptError('refusal', 'HTTP 403', { status: 403, atFirst });
    const { ask, inner } = scripted([forbidden]);
    await expect(ask(many)).rejects.toBe(atFirst);
    expect(inner.asked).toHaveLength(1);
    const later = scripted([recordsOf(one), forbidden]);
    await later.ask(one);
    expect(await later.ask(many)).toMatchObject({ kind: 'records' });
  });
});

describe('a control', () => {
  it.each([new ExportError('cannotWrite', 'the disk is full'), new Error('a bug')])(
    'that meets what no probe can tell ends the calls that wait for it: %s',
    async (met) => {
      const isControl = ({ ids }: AssetCall): boolean => ids.length === 1;
      const clock = createFakeClock();
      const inner = alwaysClient((asked) => (isControl(asked) ? met : reset));
      const client = judged(inner, { clock });
      const ends = await clock.runUntil(Promise.allSettled([client.ask(many), client.ask(many)]));
      for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: met });
      expect(inner.asked.filter(isControl)).toHaveLength(1);
    },
  );
});

describe('an attempt that failed', () => {
  it('is repeated, and costs one call more', async () => {
    const { ask, inner, events } = scripted([reset]);
    expect(await ask(many)).toEqual(recordsOf(many));
    expect(inner.asked).toEqual([many, many]);
    expect(events.filter(({ kind }) => kind === 'retry')).toMatchObject([{ reason: reset.message, attempt: 1 }]);
  });

  it('of a lone call is an outage: one probe after another, less and less often, and then the end', async () => {
    const { ask, inner, clock } = scripted(alwaysClient(reset));
    const beganMs = clock.now();
    const error = await failureOf(ask(one));
    expect(inner.asked).toHaveLength(9);
    expect(error).toMatchObject({ exit: 'unavailable', cause: reset, facts: { explanation: 'outage', attempts: 9 } });
    expect(error.message).toBe(
      'The service is down: it has not answered since 09:00:00 UTC, 9 attempts in a row failed; last error: connection reset.',
    );
    expect(error.todo).toMatch(/same command/);
    expect(clock.now() - beganMs).toBeGreaterThan(60_000);
    expect(clock.now() - beganMs).toBeLessThan(95_000);
  });

  it('of a service that never answered is no outage: it ends after 30 s, with another text', async () => {
    const gone = new AttemptError('transport', 'connection failed: no route', { why: 'connection', unsent: true });
    const { ask, inner, clock } = scripted(alwaysClient(gone), { retries: 100 });
    const beganMs = clock.now();
    expect(await failureOf(ask(one))).toMatchObject({
      message: 'cannot reach the service, it never answered: connection failed: no route',
      why: { kind: 'neverAnswered' },
      facts: { explanation: 'contact', attempts: inner.asked.length },
    });
    expect(clock.now() - beganMs).toBeGreaterThan(10_000);
    expect(clock.now() - beganMs).toBeLessThanOrEqual(30_000);
    // A gateway that answers is an outage, and so is a service that has answered.
    for (const steps of [[new AttemptError('transport', 'HTTP 503', { status: 503 })], [recordsOf(one)]]) {
      const later = scripted([...steps, ...Array.from({ length: 20 }, () => gone)]);
      if (!(steps[0] instanceof AttemptError)) await later.ask(one);
      expect((await failureOf(later.ask(one))).message).toMatch(/^The service is down/);
    }
  });

  it('is not repeated without retries', async () => {
    const inner = alwaysClient(reset);
    await failureOf(scripted(inner, { retries: 0 }).ask(one));
    expect(inner.asked).toHaveLength(1);
  });

  it('of a call with a bad id ends as a refusal, once it is improbable that chance did it', async () => {
    const bad = idOf(3);
    const inner = alwaysClient((asked) => ([...asked.ids].includes(bad) ? reset : recordsOf(asked)));
    const { ask } = scripted(inner);
    for (const call of calls) await ask(call);
    const before = inner.asked.length;
    expect(await ask(many)).toMatchObject({ kind: 'refused', why: 'id', doubtful: true });
    // Three failures, two of which count, and their controls.
    expect(inner.asked.length - before).toBeLessThanOrEqual(7);
  });

  it('of unknown kind is passed on', async () => {
    const refused = refusal('notFound');
    expect(await scripted([refused]).ask(many)).toBe(refused);
    const spent = new ExportError('spent', 'spent');
    await expect(scripted([spent]).ask(many)).rejects.toBe(spent);
  });
});

describe('all calls together', () => {
  it('are at most so many, in order', async () => {
    const { client, open, end } = await working();
    const answers = Promise.all(calls.slice(0, 6).map((call) => client.ask(call)));
    await settled();
    expect(open.map(({ call }) => call)).toEqual(calls.slice(0, 4));
    end();
    await settled();
    expect(open.map(({ call }) => call)).toEqual(calls.slice(1, 5));
    while (open.length > 0) {
      end();
      await settled();
    }
    expect(await answers).toEqual(calls.slice(0, 6).map((call) => recordsOf(call)));
  });

  it.each([
    [0, 1000],
    [86_400_000, 60_000],
    [7000, 7000],
  ])('wait when the service asks for %i ms: %i ms, and half as many go on', async (waitMs, heldMs) => {
    const { client, open, end, clock } = await working();
    const answers = calls.slice(0, 8).map((call) => client.ask(call));
    await settled();
    end(tooFast(waitMs));
    for (let left = 0; left < 3; left += 1) end();
    await clock.advance(heldMs - 1);
    expect(open).toHaveLength(0);
    await clock.advance(1);
    expect(open).toHaveLength(2);
    while (open.length > 0) {
      end();
      await clock.advance(1000);
    }
    expect(await Promise.all(answers)).toHaveLength(8);
  });

  it('wait no longer when the clock is set back', async () => {
    const { client, open, end, clock } = await working({ concurrency: 1 });
    const answer = client.ask(many);
    await settled();
    end(tooFast(3000));
    await settled();
    clock.setBack(3_600_000);
    await clock.advance(2999);
    expect(open).toHaveLength(0);
    await clock.advance(1);
    expect(open).toHaveLength(1);
    end();
    expect(await answer).toEqual(recordsOf(many));
  });

  it('tell those who share the pace of a wait, and of nothing shorter than a second', async () => {
    const told: number[] = [];
    const { client, end, clock } = await working({ onHold: (ms) => told.push(ms) });
    const answers = calls.slice(0, 4).map((call) => client.ask(call));
    await settled();
    end(reset);
    await settled();
    expect(told).toEqual([]);
    end(tooFast(9000));
    await settled();
    expect(told).toEqual([9000]);
    end();
    end();
    for (let turn = 0; turn < 30; turn += 1) {
      await clock.advance(1000);
      end();
    }
    expect(await Promise.all(answers)).toHaveLength(4);
  });

  it('let a call go first that was held back in its slot, once the wait is over', async () => {
    const { client, open, end, clock } = await working({ concurrency: 2 });
    const answers = calls.slice(0, 3).map((call) => client.ask(call));
    await settled();
    const [, second] = calls;
    if (second === undefined) throw new Error('no call');
    expect(client.mayLeave(second)).toBe(true);
    end(tooFast(1000));
    await settled();
    expect(client.mayLeave(second)).toBe(false);
    end(new AttemptError('held', 'not now'));
    await clock.advance(999);
    expect(open).toHaveLength(0);
    await clock.advance(1);
    expect(client.mayLeave(open[0]?.call ?? one)).toBe(true);
    expect(open.map(({ call }) => call)).toEqual([second]);
    for (let turn = 0; turn < 30; turn += 1) {
      end();
      await clock.advance(1000);
    }
    expect(await Promise.all(answers)).toHaveLength(3);
  });

  it('begin nothing after stop: what waits ends with its reason, also between attempts; what is in flight goes on', async () => {
    const stop = new AbortController();
    const reason = new ExportError('terminated', 'SIGTERM');
    const { client, open, end, clock } = await working({ concurrency: 2, stop: stop.signal });
    const [failing, flying, waiting] = calls.slice(0, 3).map((call) => client.ask(call));
    await settled();
    end(reset);
    await clock.advance(1);
    stop.abort(reason);
    await expect(failing).rejects.toBe(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(client.ask(many)).rejects.toBe(reason);
    expect(open).toHaveLength(1);
    end();
    expect(await flying).toMatchObject({ kind: 'records' });
    await clock.advance(120_000);
    expect(open).toHaveLength(0);
    await client.close();
    expect(clock.sleepers()).toBe(0);
  });

  it('end with what ended one of them, and nothing is sent after it', async () => {
    const ended = new Ended();
    const inner = alwaysClient(reset);
    const clock = createFakeClock();
    const client = judged(inner, { clock, ended });
    const errors = await clock.runUntil(Promise.all(calls.map((call) => failureOf(client.ask(call)))));
    expect(new Set(errors).size).toBe(1);
    expect(ended.failure()).toBe(errors[0]);
    const sent = inner.asked.length;
    await failureOf(client.ask(many));
    expect(inner.asked).toHaveLength(sent);
  });

  it('close once nothing is in flight, and leave no sleep behind', async () => {
    const { client, end, clock } = await working();
    client.ask(many).catch(() => undefined);
    const flying = client.ask(one);
    await settled();
    end(tooFast(60_000));
    await settled();
    const closing = client.close();
    const state = { closed: false };
    void closing.then(() => {
      state.closed = true;
    });
    await settled();
    expect(state.closed).toBe(false);
    end();
    await closing;
    await flying;
    expect(clock.sleepers()).toBe(0);
  });
});

describe('a control', () => {
  it('gives the memory of its answer back', async () => {
    const state = { released: 0 };
    const release = (): void => {
      state.released += 1;
    };
    const bad = idOf(3);
    const inner = alwaysClient((asked) => {
      if ([...asked.ids].includes(bad)) return reset;
      return { ...recordsOf(asked), release } as AssetAnswer;
    });
    await scripted(inner).ask(many);
    const controls = inner.asked.filter(({ ids }) => ids.length === 1);
    expect(controls.length).toBeGreaterThan(0);
    expect(state.released).toBe(controls.length);
  });
});

describe('what is told of the service', () => {
  const messages = (events: readonly ClientEvent[]): string[] =>
    events.flatMap((event) => (event.kind === 'service' ? [`${event.state}: ${event.message}`] : []));

  it('is how many calls it takes at once', async () => {
    const { client, events, end, clock } = await working({ concurrency: 4 });
    const answers = calls.map((call) => client.ask(call));
    await settled();
    end(reset);
    for (let turn = 0; turn < 200; turn += 1) {
      end();
      await clock.advance(100);
    }
    await Promise.all(answers);
    expect(messages(events)[0]).toBe('slowed: the service takes about 2 calls at once: connection reset');
    expect(messages(events).at(-1)).toBe('working: ');
  });

  it('is since when it is silent, when the next probe leaves, and when the run gives up', async () => {
    const { ask, events } = scripted(alwaysClient(reset));
    await failureOf(ask(many));
    expect(messages(events)[0]).toMatch(
      /^probing: no answer since 09:00:00 UTC: the next probe leaves in 1 s, gives up at about 09:01:\d\d UTC: connection reset$/,
    );
    // One that never answered has 30 s, from its first failure.
    const gone = new AttemptError('transport', 'no route', { why: 'connection', unsent: true });
    const never = scripted(alwaysClient(gone), { retries: 100 });
    await failureOf(never.ask(many));
    const probing = messages(never.events).filter((message) => message.startsWith('probing'));
    expect(probing.length).toBeGreaterThan(1);
    expect(probing.filter((message) => !message.includes('gives up at about 09:00:30 UTC'))).toEqual([]);
  });
});
