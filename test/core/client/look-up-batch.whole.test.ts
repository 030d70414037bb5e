import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdList } from '../../../src/core/ids/id-list.ts';
import type { RecordRows } from '../../../src/core/records/scan/record-rows.ts';
import type { AssetAnswer, AssetCall } from '../../../src/core/client/asset-client.ts';
import { requestId } from '../../../src/core/client/wire/call-body.ts';
import { lookUpBatch, type LookUpRequest } from '../../../src/core/client/look-up-batch.ts';
import { parseAnswer } from '../../../src/core/client/wire/parse-answer.ts';
import { sizeGuarded } from './support/guarded.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import {
  answerBody,
  idOf,
  idFound,
  idsOf,
  noFlags,
  recordsOf,
  recordText,
  refusal,
  rowReader,
} from './support/calls.ts';
import { alwaysClient, scriptedClient } from './support/scripted-client.ts';

function batchOf(ids: readonly string[], more: Partial<LookUpRequest<RecordRows>> = {}): LookUpRequest<RecordRows> {
  return { ids: IdList.of(ids), flags: noFlags, part: 3, singles: true, reader: rowReader, ...more };
}

function answered(call: AssetCall, elements: readonly string[]): AssetAnswer {
  return parseAnswer(answerBody(elements, requestId(call)), call) as AssetAnswer;
}

const ids = idsOf(6);
const [a = '', b = '', c = ''] = ids;
const noCounts = { foreign: 0, repeated: 0, idless: 0, otherResponseId: 0 };

describe('lookUpBatch', () => {
  it('asks for the whole batch in one call and gives lookups in the order of its ids', async () => {
    const inner = scriptedClient();
    const { lookups, counts } = await lookUpBatch(inner, batchOf(ids));
    expect(inner.asked).toEqual([
      { method: 'getAssets', ids: IdList.of(ids), flags: noFlags, part: 3, reader: rowReader },
    ]);
    expect([...lookups].map(idFound)).toEqual(ids);
    expect(counts).toEqual(noCounts);
  });

  // Promise, Nothing misread: Records are matched by id, never by place
  it('matches by record id and counts what was not asked for', async () => {
    const inner = scriptedClient([
      (call) =>
        answered(call, [
          recordText(c),
          'null',
          recordText(idOf(99)),
          recordText(a),
          '{"x":1}',
          recordText(a).replace('false', 'true'),
        ]),
    ]);
    const { lookups, counts } = await lookUpBatch(inner, batchOf([a, b, c]));
    expect([...lookups].map((lookup) => lookup.kind)).toEqual(['found', 'failed', 'found']);
    expect(lookups.at(1)).toMatchObject({ reason: expect.stringContaining('unmatched record') as string });
    const [first] = lookups;
    expect(first?.kind === 'found' && first.records.text(first.index)).toBe(recordText(a));
    expect(counts).toEqual({ foreign: 1, repeated: 1, idless: 1, otherResponseId: 0 });
  });

  it('says of the pieces of a call that was sent that their ids left before, and of no others', async () => {
    const sent = refusal('id');
    const unsent = { ...refusal('size', 'too many'), unsent: true, most: 2 } as const;
    const kept = { ...refusal('id'), replayed: true } as const;
    const asked = async (first: AssetAnswer): Promise<unknown[]> => {
      const inner = scriptedClient([first]);
      await lookUpBatch(inner, batchOf(ids));
      return inner.asked.map(({ repeats }) => repeats);
    };
    expect(await asked(sent)).toEqual([undefined, true, true]);
    expect(await asked({ ...sent, why: 'size', most: 3 })).toEqual([undefined, true, true]);
    expect(await asked(unsent)).toEqual([undefined, undefined, undefined, undefined]);
    expect(await asked(kept)).toEqual([undefined, undefined, undefined]);
    // The pieces of a piece that left, though it was not sent itself.
    const inner = scriptedClient([sent, { ...unsent, most: 1 }]);
    await lookUpBatch(inner, batchOf(ids));
    expect(inner.asked.map((call) => call.repeats)).toEqual([undefined, true, true, true, true, true]);
  });

  it('says so while it tries sizes: of ids that were in a refused try, or in the whole call', async () => {
    const tries = (size: number) => ({ ...refusal('size', 'too many'), unsent: true, tries: size }) as const;
    const inner = scriptedClient([
      tries(4),
      { ...refusal('size', 'too many'), tries: 2 },
      (call) => recordsOf(call),
      tries(2),
    ]);
    await lookUpBatch(inner, batchOf(ids));
    expect(inner.asked.map((call) => [call.ids.length, call.repeats])).toEqual([
      [6, undefined],
      [4, undefined],
      [2, true],
      [4, undefined],
      [2, true],
      [2, undefined],
    ]);
  });

  it('takes no record for that of an id that shares the low bytes of its letters', async () => {
    const alike = String.fromCharCode(a.charCodeAt(0) + 0x100) + a.slice(1);
    for (const spelled of [alike, `\\u${alike.charCodeAt(0).toString(16).padStart(4, '0')}${a.slice(1)}`]) {
      const inner = scriptedClient([(call) => answered(call, [recordText(spelled), recordText(b)])]);
      const { lookups, counts } = await lookUpBatch(inner, batchOf([a, b]));
      expect([...lookups].map(idFound)).toEqual([undefined, b]);
      expect(counts).toEqual({ ...noCounts, foreign: 1 });
    }
  });

  // Promise, Whatever the service does: `{id, error}` for a record, and id-less records: never a row
  it('takes the words of {id, error} for the fate of that id', async () => {
    const entry = (id: string, message: string) => JSON.stringify({ id, error: { code: -32000, message } });
    const inner = scriptedClient([
      (call) =>
        answered(call, [entry(a, 'Asset not found'), recordText(b), entry(c, 'Disk trouble'), entry(idOf(99), 'x')]),
    ]);
    const { lookups, counts } = await lookUpBatch(inner, batchOf([a, b, c, ...ids.slice(3, 4)]));
    expect([...lookups].map((lookup) => lookup.kind)).toEqual(['missing', 'found', 'failed', 'missing']);
    expect(lookups.at(2)).toEqual({ kind: 'failed', reason: 'error -32000: Disk trouble' });
    expect(counts).toEqual({ ...noCounts, foreign: 1 });
  });

  it('leaves an id missing when services send {} for it', async () => {
    const { lookups } = await lookUpBatch(
      scriptedClient([(call) => answered(call, [recordText(a), '{}'])]),
      batchOf([a, b]),
    );
    expect([...lookups].map((lookup) => lookup.kind)).toEqual(['found', 'missing']);
  });

  it('counts answers with another response id', async () => {
    const inner = scriptedClient([
      (call) => parseAnswer(Buffer.from('{"jsonrpc":"2.0","result":[],"id":null}'), call) as AssetAnswer,
    ]);
    expect((await lookUpBatch(inner, batchOf([a]))).counts.otherResponseId).toBe(1);
  });

  // Promise, Nothing overspent: One id that spoils its call is found in about 2·log2 n calls
  it('isolates one id that spoils its call in about 2·log2 n calls', async () => {
    const many = idsOf(1000);
    const poison = many[617] ?? '';
    const inner = alwaysClient((call) =>
      [...call.ids].includes(poison) ? refusal('id', 'one of the ids is invalid') : recordsOf(call),
    );
    const { lookups } = await lookUpBatch(inner, batchOf(many));
    expect([...lookups].map((lookup) => lookup.kind)).toEqual(many.map((id) => (id === poison ? 'failed' : 'found')));
    expect(lookups.at(617)).toEqual({ kind: 'failed', reason: 'one of the ids is invalid' });
    expect(inner.asked.length).toBeLessThanOrEqual(21);
  });

  it('needs two more calls when the refusal names the id: one tells whether it is to blame', async () => {
    const inner = alwaysClient((call) =>
      [...call.ids].includes(b) ? refusal('id', `Pubkey Validation Err: ${b} is invalid`) : recordsOf(call),
    );
    const { lookups } = await lookUpBatch(inner, batchOf(ids));
    expect([...lookups].filter((lookup) => lookup.kind === 'found')).toHaveLength(5);
    expect(lookups.at(1)).toEqual({ kind: 'failed', reason: `Pubkey Validation Err: ${b} is invalid` });
    expect(inner.asked).toHaveLength(3);
  });

  it('takes a refusal that says not found for missing, for one id of many and for all', async () => {
    const gone = new Set([a, c]);
    const inner = alwaysClient((call) =>
      [...call.ids].some((id) => gone.has(id)) ? refusal('notFound', 'Asset Not Found') : recordsOf(call),
    );
    const { lookups } = await lookUpBatch(inner, batchOf([a, b, c]));
    expect([...lookups].map((lookup) => lookup.kind)).toEqual(['missing', 'found', 'missing']);
    expect(lookups.at(0)).toEqual({ kind: 'missing', reason: 'Asset Not Found' });
  });

  it.each([
    [1, 'found'],
    [6, 'found'],
    [1, 'missing'],
  ])('blames no id for an echo of the first %i of the request, where all others are %s', async (echoed, kind) => {
    const many = idsOf(1000);
    const inner = alwaysClient((call) =>
      [...call.ids].includes(many[617] ?? '')
        ? refusal('id', `Invalid pubkey in ${JSON.stringify([...call.ids].slice(0, echoed))}`)
        : recordsOf(call, kind === 'found' ? [...call.ids] : []),
    );
    const { lookups } = await lookUpBatch(inner, batchOf(many));
    expect([...lookups].flatMap((lookup, place) => (lookup.kind === kind ? [] : [place]))).toEqual([617]);
    expect(inner.asked.length).toBeLessThanOrEqual(23);
  });

  it('asks the same calls again from kept answers, in whatever order they came', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.uniqueArray(fc.nat(39), { maxLength: 5 }), async (scheduler, bad) => {
        const many = idsOf(40);
        const spoilers = new Set(bad.map((place) => many[place]));
        const kept = new Map<string, AssetAnswer>();
        const service = alwaysClient(async (call) => {
          await scheduler.schedule(Promise.resolve());
          const echo = refusal('id', `Invalid: ${call.ids.first}`);
          const answer = [...call.ids].some((id) => spoilers.has(id)) ? echo : recordsOf(call);
          kept.set([...call.ids].join(), answer);
          return answer;
        });
        const first = lookUpBatch(service, batchOf(many));
        await scheduler.waitFor(first);
        const replay = alwaysClient((call) => kept.get([...call.ids].join()) ?? refusal('id', 'not kept'));
        const again = await lookUpBatch(replay, batchOf(many));
        expect([...again.lookups].map(({ kind }) => kind)).toEqual([...(await first).lookups].map(({ kind }) => kind));
        expect(replay.asked.every((call) => kept.has([...call.ids].join()))).toBe(true);
      }),
      { seed: 5, numRuns: 100 },
    );
  });

  it.each(['doubtful', 'size'])('halves a call whose refusal names an id but is %s', async (kind) => {
    const words = refusal(kind === 'size' ? 'size' : 'id', `no luck near ${b}`);
    const inner = scriptedClient([{ ...words, doubtful: kind === 'doubtful' }]);
    const { lookups } = await lookUpBatch(inner, batchOf(ids.slice(0, 4)));
    expect([...lookups].map((lookup) => lookup.kind)).toEqual(['found', 'found', 'found', 'found']);
    expect(inner.asked.map((call) => call.ids.length)).toEqual([4, 2, 2]);
  });

  it('finds the true fate of every id, whichever spoil their calls and however refusals word it', async () => {
    const fate = fc.constantFrom('found', 'found', 'found', 'missing', 'poison', 'named', 'listed', 'gone');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { minLength: 1, maxLength: 70 }),
        fc.integer({ min: 1, max: 70 }),
        fc.boolean(),
        async (fates, most, reversed) => {
          const all = idsOf(fates.length);
          const fateOf = new Map(all.map((id, n) => [id, fates[n]]));
          const service = alwaysClient((call) => {
            if (call.ids.length > most) return refusal('size', 'too many');
            const bad = [...call.ids].find((id) =>
              ['poison', 'named', 'listed', 'gone'].includes(fateOf.get(id) ?? ''),
            );
            const kind = fateOf.get(bad ?? '');
            if (kind === 'gone') return refusal('notFound', 'Asset Not Found');
            const listed = [...call.ids].filter((id, at) => id === bad || at % 3 === 0).join();
            const words = { named: `${bad} is invalid`, listed: `invalid: ${listed}` };
            if (bad !== undefined) return refusal('id', { ...words, poison: 'invalid' }[kind as keyof typeof words]);
            const found = [...call.ids].filter((id) => fateOf.get(id) === 'found');
            return recordsOf(call, reversed ? found.toReversed() : found);
          });
          const guard = sizeGuarded(service);
          const { lookups } = await lookUpBatch(guard, batchOf(all));
          const expected = {
            found: 'found',
            missing: 'missing',
            gone: 'missing',
            poison: 'failed',
            named: 'failed',
            listed: 'failed',
          };
          expect([...lookups].map((lookup) => lookup.kind)).toEqual(fates.map((each) => expected[each]));
          expect([...lookups].map(idFound)).toEqual(all.map((id) => (fateOf.get(id) === 'found' ? id : undefined)));
          expect(guard.cap()).toBeGreaterThanOrEqual(Math.min(most, fates.length) / 2);
        },
      ),
      { seed: 11, numRuns: 300 },
    );
  });

  it('finds the one record that no answer can hold, and asks for others in full calls again', async () => {
    const all = idsOf(192);
    const huge = all[100];
    const service = alwaysClient((call) =>
      [...call.ids].some((id) => id === huge) ? refusal('size', 'Response is too big') : recordsOf(call),
    );
    const guard = sizeGuarded(service);
    const kinds: string[] = [];
    for (const start of [0, 64, 128]) {
      const { lookups } = await lookUpBatch(guard, batchOf(all.slice(start, start + 64)));
      kinds.push(...[...lookups].map(({ kind }) => kind));
    }
    expect(kinds).toEqual(all.map((id) => (id === huge ? 'failed' : 'found')));
    expect(service.asked).toHaveLength(1 + (1 + 2 * Math.log2(64)) + 1);
    expect(guard.cap()).toBe(Number.POSITIVE_INFINITY);
  });

  it('asks for ids of unverified collections one by one when getAssets did not return them', async () => {
    const flags = { ...noFlags, showUnverifiedCollections: true };
    const inner = alwaysClient((call) => {
      if (call.method === 'getAssets') return recordsOf(call, [a]);
      if (call.ids.first === b) return recordsOf(call);
      return call.ids.first === c ? refusal('notFound', 'Asset Not Found') : recordsOf(call, []);
    });
    const { lookups } = await lookUpBatch(inner, batchOf(ids.slice(0, 4), { flags }));
    expect([...lookups].map((lookup) => lookup.kind)).toEqual(['found', 'found', 'missing', 'missing']);
    expect(inner.asked.map((call) => [call.method, call.ids.length])).toEqual([
      ['getAssets', 4],
      ['getAsset', 1],
      ['getAsset', 1],
      ['getAsset', 1],
    ]);
  });

  it('asks no single calls without that flag or where the job forbids them', async () => {
    const flags = { ...noFlags, showUnverifiedCollections: true };
    const inner = alwaysClient((call) => recordsOf(call, []));
    await lookUpBatch(inner, batchOf(ids, { flags, singles: false }));
    await lookUpBatch(inner, batchOf(ids));
    expect(inner.asked.map((call) => call.method)).toEqual(['getAssets', 'getAssets']);
  });

  it('fails with the first error, after the other half has ended', async () => {
    const error = new ExportError('unavailable', 'gone');
    const ended: string[] = [];
    const inner = scriptedClient([
      refusal('id'),
      error,
      async (call) => {
        await Promise.resolve();
        ended.push('second half');
        return recordsOf(call);
      },
    ]);
    await expect(lookUpBatch(inner, batchOf(ids))).rejects.toBe(error);
    expect(ended).toEqual(['second half']);
  });
});
