import { describe, expect, it } from 'vitest';
import type { AssetAnswer, AssetCall } from '../../../src/core/client/asset-client.ts';
import { readerOf } from '../../../src/core/work/tables-of.ts';
import type { Batch } from '../../../src/core/ids/batch-ids.ts';
import { fetchBatches } from '../../../src/core/work/fetch-batches.ts';
import type { Counts } from '../../../src/places/export/export-facts.ts';
import type { Holding } from '../../../src/core/work/held-bytes.ts';
import type { IdEntry, EntryState } from '../../../src/core/ids/entries.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { inColumns } from '../ids/entries.ts';

const answerBytes = 1000;
/** An answer of one record, and the entry that it is for. */
const batchBytes = answerBytes + inColumns([entry('a', 0)]).bytes;
const flags = { showFungible: false, showCollectionMetadata: false, showUnverifiedCollections: false };

function answerTo(call: AssetCall): AssetAnswer {
  return {
    kind: 'records',
    body: new Uint8Array(answerBytes * call.ids.length),
    idless: 0,
    hasUnmatched: false,
    errors: [],
    otherResponseId: false,
  };
}

function entry(text: string, index: number, state: EntryState = 'valid'): IdEntry {
  return { text, source: 0, line: index + 1, state, reason: '' };
}

/** Batches of one id each, but for those that are twice as large. */
async function* batchesOf(count: number, twice: readonly number[] = []): AsyncGenerator<Batch, void, void> {
  for (let n = 0; n < count; n += 1) {
    const texts = twice.includes(n) ? [`a${n}`, `b${n}`] : [`a${n}`];
    const entries = inColumns(texts.map((text, index) => entry(text, n + index)));
    yield { part: n, endsPart: true, entries, ids: entries.ids() };
  }
}

interface Fetching {
  readonly count: number;
  readonly mostBytes: number;
  readonly concurrency: number;
  readonly twice?: readonly number[];
  /** The id whose answer comes when it is told to. */
  readonly late?: string;
  readonly clock?: Clock;
  /** In place of `count` of them. */
  readonly batches?: AsyncGenerator<Batch, void, void>;
}

function fetching({
  count,
  mostBytes,
  concurrency,
  twice,
  late,
  batches = batchesOf(count, twice),
  clock = still,
}: Fetching) {
  const state = {
    asked: 0,
    read: 0,
    told: [] as Holding[],
    settled: [] as Counts[],
    answerLate: (): void => undefined,
  };
  const client = {
    ask: async (call: AssetCall) => {
      state.asked += 1;
      await new Promise<void>((resolve) => {
        if (late !== undefined && [...call.ids].includes(late)) state.answerLate = resolve;
        else setImmediate(resolve);
      });
      await call.room?.();
      state.read += 1;
      return answerTo(call);
    },
  };
  const fetched = fetchBatches(batches, {
    client,
    flags,
    reader: readerOf([]),
    singles: false,
    idsPerCall: 1000,
    clock,
    concurrency,
    mostBytes,
    halt: () => undefined,
    onHolding: (holding) => state.told.push(holding),
    onSettled: (counts) => state.settled.push(counts),
  });
  return { state, fetched };
}

/** Time stands still. */
const still: Clock = { now: () => 0, monotonic: () => 0, sleep: () => new Promise(() => undefined) };

async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('fetching batches', () => {
  it('leaves answers unread while a sink is behind, by bytes, and tells it', async () => {
    const { state, fetched } = fetching({ count: 100, mostBytes: 6 * batchBytes, concurrency: 4 });
    const written: number[] = [];
    for await (const { batch } of fetched) {
      await settled();
      // What is being written and what waits. Calls that wait for their answers hold no memory.
      expect(state.read - written.length).toBeLessThanOrEqual(written.length < 3 ? 8 : 6);
      if (written.length > 10 && written.length < 80) expect(state.asked - state.read).toBeGreaterThanOrEqual(1);
      if (written.length < 90) expect(state.told.at(-1)?.isFull).toBe(true);
      written.push(batch.part);
    }
    expect(written).toEqual(Array.from({ length: 100 }, (_, n) => n));
    expect(state.told.at(-1)).toEqual({ bytes: 0, isFull: false });
  });

  it('reports what became of the entries of each batch', async () => {
    async function* batches(): AsyncGenerator<Batch, void, void> {
      const states = ['valid', 'invalid', 'duplicate'] as const;
      const entries = inColumns(states.map((state, index) => entry(`a${index}`, index, state)));
      yield { part: 0, endsPart: true, entries, ids: entries.ids() };
    }
    const { state, fetched } = fetching({ count: 0, mostBytes: 1, concurrency: 1, batches: batches() });
    for await (const each of fetched) each.release();
    const fates = { read: 3, exported: 0, carried: 0, missing: 1, invalid: 1, duplicate: 1, failed: 0 };
    expect(state.settled).toEqual([fates]);
  });

  it('goes on with one at a time when a single answer is more than the limit', async () => {
    const { state, fetched } = fetching({ count: 20, mostBytes: 1, concurrency: 2 });
    let written = 0;
    for await (const each of fetched) {
      await settled();
      expect(each.found?.lookups).toHaveLength(1);
      if (written >= 6) expect(state.read).toBe(written + 1);
      written += 1;
    }
    expect(written).toBe(20);
  });

  it('goes on behind an answer that is late, as far as bytes allow', async () => {
    for (const mostAnswers of [25, 1000]) {
      const { state, fetched } = fetching({
        count: 500,
        mostBytes: mostAnswers * batchBytes,
        concurrency: 8,
        late: 'a20',
      });
      for (let n = 0; n < 20; n += 1) await fetched.next();
      const late = fetched.next();
      await settled();
      const behind = Math.min(mostAnswers, 8 + 40);
      expect(state.read - 20).toBeLessThanOrEqual(behind);
      expect(state.read - 20).toBeGreaterThanOrEqual(behind - 2);
      state.answerLate();
      expect((await late).value?.batch.part).toBe(20);
      await fetched.return();
    }
  });

  it('reads answers one by one, a second apart, when the first in line lacks a call and all others wait to be read', async () => {
    let end: (() => void) | undefined;
    const clock: Clock = {
      ...still,
      sleep: () =>
        new Promise((resolve) => {
          end = resolve;
        }),
    };
    const { state, fetched } = fetching({ count: 100, mostBytes: 3 * batchBytes, concurrency: 8, late: 'a0', clock });
    const late = fetched.next();
    await settled();
    const before = state.read;
    for (let seconds = 1; seconds <= 3; seconds += 1) {
      end?.();
      await settled();
      expect(state.read).toBe(before + seconds);
    }
    state.answerLate();
    await late;
    await fetched.return();
    expect(state.read).toBe(state.asked);
  });

  it('holds back entries of which none is asked for, too, while an answer is late', async () => {
    const repeated = Array.from({ length: 50 }, (_, index) => entry('a0', index, 'duplicate'));
    const { bytes } = inColumns(repeated);
    let pulled = 0;
    async function* batches(): AsyncGenerator<Batch, void, void> {
      yield* batchesOf(1);
      for (; pulled < 100; pulled += 1) {
        const entries = inColumns(repeated);
        yield { part: 1 + pulled, endsPart: true, entries, ids: entries.ids() };
      }
    }
    const { state, fetched } = fetching({
      count: 0,
      concurrency: 8,
      late: 'a0',
      mostBytes: 10 * bytes,
      batches: batches(),
    });
    const late = fetched.next();
    await settled();
    expect(pulled).toBeLessThanOrEqual(11);
    state.answerLate();
    await late;
    let rest = 0;
    for await (const { batch } of fetched) rest += batch.entries.length;
    expect(rest).toBe(5000);
    expect(state.told.at(-1)).toEqual({ bytes: 0, isFull: false });
  });

  it('takes answers of different sizes at what they average', async () => {
    const { state, fetched } = fetching({ count: 200, mostBytes: 12 * batchBytes, concurrency: 4, twice: [1, 5, 9] });
    for await (const { batch } of fetched) {
      await settled();
      expect(batch.ids.length).toBeLessThanOrEqual(2);
    }
    expect(state.asked).toBe(200);
    expect(Math.max(...state.told.map(({ bytes }) => bytes))).toBeLessThanOrEqual(14 * batchBytes);
  });
});
