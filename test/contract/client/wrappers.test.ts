import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type AssetClient, AttemptError } from '../../../src/core/client/asset-client.ts';
import { createMemoryLedger } from '../../../src/core/client/ledger/credit-ledger.ts';
import { Ended } from '../../../src/core/client/policies/day-gate.ts';
import { withBudget } from '../../../src/core/client/policies/with-budget.ts';
import { withJournal } from '../../../src/core/client/policies/with-journal.ts';
import { withReuse } from '../../../src/core/client/policies/with-reuse.ts';
import { sizeGuarded } from '../../core/client/support/guarded.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import { batchCall, idOf, idsOf, recordsOf, refusal, singleCall } from '../../core/client/support/calls.ts';
import { judged } from '../../core/client/support/judged.ts';
import { createFakeClock, settled } from '../../support/fake-clock.ts';
import { alwaysClient, heldClient, scriptedClient } from '../../core/client/support/scripted-client.ts';
import { withBadIds } from '../../../src/core/client/policies/with-bad-ids.ts';

type Wrap = (inner: AssetClient, stop?: AbortSignal) => AssetClient;

interface Wrapper {
  readonly name: string;
  readonly wrap: Wrap;
  /** Calls may wait in it, and do not begin when it is told to stop. Others hand each call on at once. */
  readonly holdsCallsBack: boolean;
}

/** Every wrapper of `AssetClient`, with options that give it nothing to do; `with-<name>.ts` is its file, by the name up to a comma. */
const wrappers: readonly Wrapper[] = [
  { name: 'bad ids', wrap: (inner) => withBadIds(inner, undefined), holdsCallsBack: false },
  {
    name: 'journal',
    wrap: (inner) =>
      withJournal(inner, { journal: { find: () => Promise.resolve(undefined), append: () => Promise.resolve() } }),
    holdsCallsBack: false,
  },
  { name: 'size guard', wrap: (inner) => sizeGuarded(inner), holdsCallsBack: false },
  {
    name: 'judgement',
    wrap: (inner, stop) => judged(inner, { retries: 1, stop }),
    holdsCallsBack: true,
  },
  {
    name: 'reuse',
    wrap: (inner) => {
      const reusing = withReuse((sender) => sender, { clock: createFakeClock() });
      return { ask: (each) => reusing.ask({ ids: each.ids, send: () => inner.ask(each) }) };
    },
    holdsCallsBack: false,
  },
  {
    name: 'budget',
    wrap: (inner, stop) =>
      withBudget(inner, {
        ledger: createMemoryLedger(),
        clock: createFakeClock(),
        creditsPerCall: 160,
        whenSpent: 'stop',
        timeoutMs: 60_000,
        ended: new Ended(stop),
      }),
    holdsCallsBack: true,
  },
];

const call = batchCall(idsOf(3));

it('holds for every wrapper', () => {
  const files = readdirSync(new URL('../../../src/core/client/policies', import.meta.url));
  const named = new Set(wrappers.map(({ name }) => `with-${name.replace(/,.*/, '').replaceAll(' ', '-')}.ts`));
  expect([...named].sort()).toEqual(files.filter((file) => file.startsWith('with-')).sort());
});

describe.each(wrappers)('the $name wrapper', ({ wrap }) => {
  it('hands the call on as it is', async () => {
    const inner = scriptedClient();
    await wrap(inner).ask(call);
    expect(inner.asked).toHaveLength(1);
    expect(inner.asked[0]).toBe(call);
  });

  it.each([recordsOf(call), recordsOf(singleCall(idOf(1))), refusal('id'), refusal('notFound')])(
    'passes an answer through unchanged',
    async (answer) => {
      const before = JSON.stringify(answer);
      const passed = await wrap(scriptedClient([answer])).ask(call);
      expect(passed).toBe(answer);
      expect(JSON.stringify(passed)).toBe(before);
    },
  );

  it('gives each of many calls its own answer, whatever order they end in', async () => {
    const inner = heldClient();
    const client = wrap(inner);
    const calls = Array.from({ length: 12 }, (_, n) => batchCall([idOf(n)]));
    const work = Promise.all(calls.map((each) => client.ask(each)));
    let ended = 0;
    while (ended < calls.length) {
      await settled();
      inner.open.pop()?.end();
      ended += 1;
    }
    expect(await work).toEqual(calls.map((each) => recordsOf(each)));
  });

  it.each(['unavailable', 'notTrusted', 'spent', 'terminated'] as const)(
    'passes an ExportError on: %s',
    async (exit) => {
      const error = new ExportError(exit, 'why');
      await expect(wrap(scriptedClient([error])).ask(call)).rejects.toBe(error);
    },
  );

  it('passes an error that it does not know on as it is', async () => {
    const bug = new TypeError('a bug');
    await expect(wrap(scriptedClient([bug])).ask(call)).rejects.toBe(bug);
  });

  it('passes a failed attempt on, or an error that has it as its cause', async () => {
    const failed = new AttemptError('transport', 'reset');
    const error: unknown = await wrap(alwaysClient(failed))
      .ask(call)
      .catch((reason: unknown) => reason);
    expect(error === failed || (error instanceof ExportError && error.cause === failed)).toBe(true);
  });

  it('goes on after an error', async () => {
    const client = wrap(scriptedClient([new AttemptError('transport', 'reset')]));
    await client.ask(call).catch(() => undefined);
    expect(await client.ask(call)).toEqual(recordsOf(call));
  });

  it('lets a call in flight end after stop', async () => {
    const stop = new AbortController();
    const inner = heldClient();
    const work = wrap(inner, stop.signal).ask(call);
    await settled();
    stop.abort(new ExportError('terminated', 'SIGTERM'));
    await settled();
    inner.open[0]?.end();
    expect(await work).toEqual(recordsOf(call));
  });
});

describe.each(wrappers.filter(({ holdsCallsBack }) => holdsCallsBack))('the $name wrapper', ({ wrap }) => {
  it('begins no call after stop, and ends it with the reason', async () => {
    const stop = new AbortController();
    const reason = new ExportError('terminated', 'SIGTERM');
    const inner = scriptedClient();
    const client = wrap(inner, stop.signal);
    stop.abort(reason);
    await expect(client.ask(call)).rejects.toBe(reason);
    expect(inner.asked).toHaveLength(0);
  });
});
