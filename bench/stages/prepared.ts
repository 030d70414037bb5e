import type { ShapedTable } from '../../src/assets/shape-table.ts';
import type { AssetCall, AssetClient } from '../../src/client/asset-client.ts';
import { callBody } from '../../src/client/call-body.ts';
import { parseAnswer } from '../../src/client/parse-answer.ts';
import { alignedMemory } from '../../src/lib/aligned-memory.ts';
import { type Batch, batchIds } from '../../src/pipeline/batch-ids.ts';
import { type FetchedBatch, fetchBatches } from '../../src/pipeline/fetch-batches.ts';
import { type PartSlice, partSlices } from '../../src/pipeline/part-slices.ts';
import { markDuplicates } from '../../src/pipeline/mark-duplicates.ts';
import { expandInputs } from '../../src/pipeline/read-ids/id-input.ts';
import { readIds } from '../../src/pipeline/read-ids/read-ids.ts';
import { HashSet128 } from '../../src/lib/hash-set-128.ts';
import { planOf } from '../../src/pipeline/tables-of.ts';

/** A call and the bytes that answer it. */
export interface Exchange {
  readonly call: AssetCall;
  readonly body: Uint8Array;
}

const flags = { showFungible: false, showCollectionMetadata: false, showUnverifiedCollections: false };
const shape = { idsPerCall: 1000, rowsPerPart: 100_000, isNeeded: () => true };

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
      return { call, body: aligned(new Uint8Array(await answer.arrayBuffer())) };
    }),
  );
}

/** The bytes in memory of the kind in which an export receives answers, and fills the blocks of a file. */
export function aligned(bytes: Uint8Array): Uint8Array {
  const memory = new Uint8Array(alignedMemory(bytes.length), 0, bytes.length);
  memory.set(bytes);
  return memory;
}

/** The exchanges of an export that makes these tables. */
export function forTables(exchanges: readonly Exchange[], tables: readonly ShapedTable[]): Exchange[] {
  const plan = planOf(tables);
  return exchanges.map(({ call, body }) => ({ call: { ...call, plan }, body }));
}

/** The slices of batches whose answers a client has. */
export function slicesOf(batches: readonly Batch[], client: AssetClient): Promise<PartSlice[]> {
  const bounds = { concurrency: 1, mostBytes: Number.POSITIVE_INFINITY, onHolding: () => undefined };
  const options = { client, flags, plan: planOf([]), singles: true, halt: () => undefined, ...bounds };
  return collect(partSlices(unreleased(fetchBatches(each(batches), options)), shape));
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

/** An export gives the memory of a batch back as it is written; here stages read the same slices again and again. */
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
