import { systemClock } from '../../src/lib/clock.ts';
import type { ShapedTable } from '../../src/core/records/shape-table.ts';
import type { AssetCall, AssetClient } from '../../src/core/client/asset-client.ts';
import { callBody } from '../../src/core/client/wire/call-body.ts';
import { parseAnswer } from '../../src/core/client/wire/parse-answer.ts';
import { type Batch, batchIds } from '../../src/core/ids/batch-ids.ts';
import { type FetchedBatch, fetchBatches } from '../../src/core/work/fetch-batches.ts';
import { markDuplicates } from '../../src/core/ids/prepare-inputs.ts';
import { expandInputs } from '../../src/core/ids/id-input.ts';
import { readIds } from '../../src/core/ids/read/read-ids.ts';
import { HashSet128 } from '../../src/lib/hash/hash-set-128.ts';
import { readerOf } from '../../src/core/work/tables-of.ts';

/** A call and the bytes that answer it. */
export interface Exchange {
  readonly call: AssetCall;
  readonly body: Uint8Array;
}

const flags = { showFungible: false, showCollectionMetadata: false, showUnverifiedCollections: false };
const shape = { idsPerCall: 1000, rowsPerPart: 100_000 };

/** The batches of an id file, as an export makes them. */
export async function batchesOf(idFile: string): Promise<Batch[]> {
  const inputs = await expandInputs({ from: [idFile], baseDir: '/' });
  return collect(batchIds(markDuplicates(readIds(inputs), new HashSet128()), shape));
}

/** What the server answers to each batch. */
export function exchangesOf(batches: readonly Batch[], url: string): Promise<Exchange[]> {
  return Promise.all(
    batches.map(async ({ ids, part }) => {
      const call: AssetCall = { method: 'getAssets', ids, flags, part };
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/v3/key`, { method: 'POST', headers, body: callBody(call) });
      return { call, body: new Uint8Array(await answer.arrayBuffer()) };
    }),
  );
}

/** The exchanges of an export that makes these tables. */
export function forTables(exchanges: readonly Exchange[], tables: readonly ShapedTable[]): Exchange[] {
  const reader = readerOf(tables);
  return exchanges.map(({ call, body }) => ({ call: { ...call, reader }, body }));
}

/** Batches whose answers a client has. */
export function fetchedOf(batches: readonly Batch[], client: AssetClient): Promise<FetchedBatch[]> {
  const bounds = { concurrency: 1, mostBytes: Number.POSITIVE_INFINITY };
  const heard = { onHolding: () => undefined, onSettled: () => undefined };
  const options = {
    client,
    flags,
    reader: readerOf([]),
    singles: true,
    idsPerCall: 1000,
    clock: systemClock,
    halt: () => undefined,
    ...bounds,
    ...heard,
  };
  return collect(unreleased(fetchBatches(each(batches), options)));
}

/** A client that has its answers at hand, already parsed. */
export function clientOf(exchanges: readonly Exchange[]): AssetClient {
  const answers = new Map(
    exchanges.map(({ call, body }) => {
      const answer = parseAnswer(body, call);
      if (answer.kind === 'error') throw new Error('the load server answers with an error');
      return [call.ids.first, answer];
    }),
  );
  return {
    ask: async (call) => {
      const answer = answers.get(call.ids.first);
      if (answer === undefined) throw new Error('a call that was not prepared');
      return answer;
    },
  };
}

/** An export gives the memory of a batch back as it is written; here stages read the same batches again and again. */
async function* unreleased(batches: AsyncIterable<FetchedBatch>): AsyncGenerator<FetchedBatch, void, void> {
  for await (const fetched of batches) yield { ...fetched, release: () => undefined };
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T, void, void> {
  yield* items;
}
