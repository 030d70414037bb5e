import { describe, expect, it } from 'vitest';
import { IdList } from '../../../../src/core/ids/id-list.ts';
import type { ClientEvent } from '../../../../src/core/client/asset-client.ts';
import { callKey } from '../../../../src/core/client/wire/call-body.ts';
import { lookUpBatch } from '../../../../src/core/client/look-up-batch.ts';
import {
  type AnswerEntry,
  type AnswerJournal,
  keptAnswer,
  withJournal,
  type KeptHint,
} from '../../../../src/core/client/policies/with-journal.ts';
import { secretScrubber } from '../../../../src/core/client/wire/service-address.ts';
import { parseAnswer } from '../../../../src/core/client/wire/parse-answer.ts';
import { sizeGuarded } from '../support/guarded.ts';
import {
  batchCall,
  idOf,
  idsOf,
  noFlags,
  recordIdsOf,
  recordsOf,
  refusal,
  singleCall,
  rowReader,
} from '../support/calls.ts';
import { alwaysClient, scriptedClient } from '../support/scripted-client.ts';

function memoryJournal(): AnswerJournal & { readonly entries: Map<string, AnswerEntry> } {
  const entries = new Map<string, AnswerEntry>();
  return {
    entries,
    find: (key) => Promise.resolve(entries.get(key)?.body),
    append: (entry) => {
      entries.set(entry.key, entry);
      return Promise.resolve();
    },
  };
}

const call = batchCall(idsOf(3), 7);

describe('withJournal', () => {
  it('keeps the bytes of an answer under its call and part before it passes it on', async () => {
    const journal = memoryJournal();
    const answer = recordsOf(call);
    expect(await withJournal(scriptedClient([answer]), { journal }).ask(call)).toBe(answer);
    expect([...journal.entries.values()]).toEqual([
      { key: callKey(call), part: 7, body: answer.kind === 'records' ? answer.body : undefined },
    ]);
  });

  // Promise, Nothing leaked: Kept answers hold no key, even where an error repeats it
  it('keeps no key that the words of an error repeat', async () => {
    const journal = memoryJournal();
    const key = '"key/of=the+service';
    const base64 = Buffer.from(`u:${key}`).toString('base64');
    const result = [...call.ids].map((id, index) => (index === 1 ? { id, error: `Basic ${base64}, ${key}` } : { id }));
    const body = Buffer.from(JSON.stringify({ id: 1, jsonrpc: '2.0', result }));
    const scrub = secretScrubber([key]);
    const answer = parseAnswer(body, call, scrub);
    if (answer.kind !== 'records') throw new Error(answer.kind);
    await withJournal(scriptedClient([answer]), { journal, scrub }).ask(call);
    const [kept = ''] = [...journal.entries.values()].map((entry) => Buffer.from(entry.body).toString());
    expect(kept).not.toContain('key/of');
    expect(kept).not.toContain(base64.slice(8, -8));
    const again = await withJournal(scriptedClient(), { journal, scrub }).ask(call);
    expect(again).toMatchObject({ kind: 'records', errors: answer.errors });
    expect(recordIdsOf(again)).toEqual(recordIdsOf(answer));
  });

  // Promise, Nothing overspent: A kept answer is not paid for again
  it('answers from the journal without sending anything, and says so', async () => {
    const journal = memoryJournal();
    const answer = await withJournal(scriptedClient(), { journal }).ask(call);
    const events: ClientEvent[] = [];
    const silent = scriptedClient();
    const replayed = await withJournal(silent, { journal, listener: (event) => events.push(event) }).ask(call);
    expect(replayed).toEqual(answer);
    expect(recordIdsOf(replayed)).toEqual([...call.ids]);
    expect(silent.asked).toEqual([]);
    expect(events).toEqual([{ kind: 'replayed', ids: 3 }]);
  });

  it.each([refusal('size', 'at most 2'), refusal('id', 'x is invalid'), refusal('notFound', '“no” \u00e9')])(
    'keeps a refusal: %o',
    async (refused) => {
      const journal = memoryJournal();
      await withJournal(scriptedClient([refused]), { journal }).ask(call);
      const silent = scriptedClient();
      expect(await withJournal(silent, { journal }).ask(call)).toEqual({ ...refused, replayed: true });
      expect(silent.asked).toEqual([]);
    },
  );

  it.each([
    { kept: 'refusal that was believed', answer: { ...refusal('size'), most: 2 }, hints: [{ most: 2 }] },
    { kept: 'refusal that was not', answer: { ...refusal('size', 'at most 2'), tries: 2 }, hints: [] },
    {
      kept: 'refusal of this client',
      answer: { ...refusal('size'), unsent: true as const, most: 2 },
      hints: [{ most: 2 }],
    },
    { kept: 'answer', answer: recordsOf(call), hints: [{ answered: call.ids.first }] },
  ])('hints at what a kept $kept shows: $hints', async ({ answer, hints }) => {
    const journal = memoryJournal();
    await withJournal(scriptedClient([answer]), { journal }).ask(call);
    const told: KeptHint[] = [];
    const replaying = withJournal(scriptedClient(), { journal, onHint: (hint) => told.push(hint) });
    expect((await replaying.ask(call)).kind).toBe(answer.kind);
    expect(told).toEqual(hints);
  });

  it('keeps a doubtful refusal only once another call has succeeded', async () => {
    const journal = memoryJournal();
    const doubtful = { ...refusal('id', 'Internal error'), doubtful: true };
    const client = withJournal(scriptedClient([doubtful, refusal('id')]), { journal });
    await client.ask(call);
    await client.ask(batchCall([idOf(8)]));
    expect(journal.entries.has(callKey(call))).toBe(false);
    await client.ask(batchCall([idOf(9)]));
    expect(journal.entries.has(callKey(call))).toBe(true);
    expect(await withJournal(scriptedClient(), { journal }).ask(call)).toEqual({ ...doubtful, replayed: true });
  });

  it('a search among kept answers asks for nothing new, doubtful refusals that name an id included', async () => {
    const ids = idsOf(20);
    const bad = [ids[3] ?? '', ids[12] ?? ''];
    const service = alwaysClient((asked) => {
      const first = [...asked.ids].find((id) => bad.includes(id));
      return first === undefined ? recordsOf(asked) : { ...refusal('id', `cannot load ${first}`), doubtful: true };
    });
    const journal = memoryJournal();
    const batch = { ids: IdList.of(ids), flags: noFlags, part: 3, singles: false, reader: rowReader };
    const before = await lookUpBatch(withJournal(service, { journal }), batch);
    const silent = scriptedClient();
    const after = await lookUpBatch(withJournal(silent, { journal }), batch);
    expect(silent.asked).toEqual([]);
    expect([...after.lookups].map(({ kind }) => kind)).toEqual([...before.lookups].map(({ kind }) => kind));
  });

  it.each([
    ['cut', '{"jsonrpc":"2.0","result":[{"id"'],
    ['empty', ''],
    ['an error object', '{"jsonrpc":"2.0","error":{"code":1,"message":"x"},"id":1}'],
    ['a refusal that is cut', '!{"why":"size"'],
    ['a refusal of another kind', '!{"why":"mood","message":"x"}'],
    ['a refusal without words', '!{"why":"size"}'],
  ])('asks again when what is kept is %s', async (_, body) => {
    const journal = memoryJournal();
    await journal.append({ key: callKey(call), part: 7, body: Buffer.from(body) });
    expect(keptAnswer(Buffer.from(body), call)).toBeUndefined();
    const inner = scriptedClient();
    expect(await withJournal(inner, { journal }).ask(call)).toEqual(recordsOf(call));
    expect(inner.asked).toEqual([call]);
  });

  it('tells calls apart by method, flags and ids, not by part', () => {
    const keys = [
      call,
      singleCall(idOf(0)),
      batchCall([idOf(0)]),
      batchCall(idsOf(3).reverse()),
      { ...call, flags: { ...noFlags, showFungible: true } },
      { ...call, flags: { ...noFlags, showCollectionMetadata: true } },
    ].map(callKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.every((key) => /^[0-9a-f]{64}$/.test(key))).toBe(true);
    expect(callKey({ ...call, part: 8 })).toBe(callKey(call));
  });
});

describe('the size guard', () => {
  it('refuses calls above a size that the service refused, without sending them', async () => {
    const inner = alwaysClient((asked) => (asked.ids.length > 4 ? refusal('size', 'too many') : recordsOf(asked)));
    const events: ClientEvent[] = [];
    const guard = sizeGuarded(inner, { listener: (event) => events.push(event) });
    expect(guard.cap()).toBe(Number.POSITIVE_INFINITY);
    await guard.ask(batchCall(idsOf(15)));
    // The call, and one of its ids alone, as nothing was answered yet.
    expect(inner.asked).toHaveLength(2);
    await guard.ask(batchCall(idsOf(15, 15)));
    expect(await guard.ask(batchCall(idsOf(15)))).toMatchObject({ why: 'size', unsent: true, tries: 8 });
    expect(inner.asked).toHaveLength(3);
    await guard.ask(batchCall(idsOf(8)));
    expect(await guard.ask(batchCall(idsOf(4)))).toMatchObject({ kind: 'records' });
    await guard.ask(batchCall(idsOf(6)));
    await guard.ask(batchCall(idsOf(5)));
    expect(guard.cap()).toBe(4);
    expect(await guard.ask(batchCall(idsOf(9)))).toMatchObject({ unsent: true, most: 4 });
    expect(events.map((event) => event.kind === 'shrunk' && event.cap)).toEqual([8, 4, 6, 5, 4]);
  });

  it('tries the planned size first, and the size of an earlier run where that is refused', async () => {
    const inner = scriptedClient([recordsOf(batchCall(idsOf(1))), refusal('size')]);
    const guard = sizeGuarded(inner, { hint: 3 });
    await guard.ask(batchCall(idsOf(1)));
    expect(await guard.ask(batchCall(idsOf(8)))).toMatchObject({ tries: 3 });
    await guard.ask(batchCall(idsOf(3)));
    expect(guard.cap()).toBe(3);
  });

  it('never tries more than the dialect takes', async () => {
    const inner = alwaysClient((asked) => recordsOf(asked));
    const guard = sizeGuarded(inner, { cap: 3 });
    for (let n = 0; n < 40; n += 1) {
      expect(await guard.ask(batchCall(idsOf(8)))).toMatchObject({ unsent: true, most: 3 });
      await guard.ask(batchCall(idsOf(3)));
    }
  });

  it('takes a size that was taken before for no limit, until it is refused again', async () => {
    const tooBig = refusal('size', 'Response is too big');
    const guard = sizeGuarded(scriptedClient([recordsOf(batchCall(idsOf(8))), tooBig, tooBig, tooBig]));
    await guard.ask(batchCall(idsOf(8)));
    await guard.ask(batchCall(idsOf(8)));
    await guard.ask(batchCall(idsOf(4)));
    expect(guard.cap()).toBe(Number.POSITIVE_INFINITY);
    expect(await guard.ask(batchCall(idsOf(8, 8)))).toMatchObject({ tries: 4 });
    expect(guard.refuses(8)).toBe(true);
  });

  it('learns nothing from refusals for other reasons', async () => {
    const guard = sizeGuarded(scriptedClient([refusal('id')]));
    await guard.ask(call);
    expect(guard.cap()).toBe(Number.POSITIVE_INFINITY);
  });
});
