import { isAssetId } from '../../lib/ids/asset-id.ts';
import { IdList } from '../ids/id-list.ts';
import type { RecordRows } from '../records/scan/record-rows.ts';
import { usualAtOnce } from '../client/judgement/call-limit.ts';
import { lookUpAlone, lookUpBatch } from '../client/look-up-batch.ts';
import type { Lookup } from '../client/lookups.ts';
import { asksAlone, plannedSize, sizeBounds } from '../job/job-dialect.ts';
import type { Job } from '../job/job-schema.ts';
import { ExportError } from '../../lib/export-error.ts';
import { mapOrdered } from '../../lib/map-ordered.ts';
import type { ExportContext } from './export-context.ts';
import { clientOf } from '../work/make-parts.ts';
import { readerOf } from '../work/tables-of.ts';
import { beginPlan, braked } from './follow-run.ts';

/** An id and what became of it. */
export interface AssetFate {
  readonly id: string;
  readonly lookup: Lookup<RecordRows>;
}

export interface GetRequest {
  /** Valid ids. A repeated id of an array is requested once; a stream repeats none. */
  readonly ids: readonly string[] | AsyncIterable<string>;
  readonly job: Pick<Job, 'service' | 'budget'>;
}

export type GetContext = Omit<ExportContext, 'files' | 'stdin' | 'version'>;

/**
 * Gets assets without an export: `getAsset` for one id, `getAssets` for more, in the order of the ids.
 * @throws {ExportError} `usage` when one is no asset id; nothing is sent then
 */
export async function* getAssets({ ids, job }: GetRequest, given: GetContext): AsyncGenerator<AssetFate, void, void> {
  const { flags, idsPerCall, concurrency } = job.service;
  const singles = asksAlone(job);
  if (isArray(ids)) requireIds(ids);
  const context = braked(given, job);
  const reader = readerOf([]);
  beginPlan(context, job, isArray(ids) ? Math.ceil(ids.length / plannedSize(job)) : undefined);
  const created = clientOf(job, context, {
    sizes: sizeBounds(job, [await context.pace?.idsPerCall()]),
  });
  try {
    const calls = inCalls(isArray(ids) ? inOrder(new Set(ids)) : ids, idsPerCall);
    const first = await calls.next();
    const second = await calls.next();
    const isOne = first.done !== true && first.value.length === 1 && second.done === true;
    const found = mapOrdered(continued([first, second], calls), {
      limit: usualAtOnce(concurrency),
      map: async (batch) => {
        const ids = IdList.of(batch);
        const { lookups } = isOne
          ? await lookUpAlone(created.client, { ids, flags, part: 0, reader })
          : await lookUpBatch(created.client, { ids, flags, part: 0, singles, reader });
        return { batch, lookups };
      },
    });
    for await (const { batch, lookups } of found) {
      for (const [place, id] of batch.entries()) yield { id, lookup: lookups.at(place) };
    }
    created.throwIfFailed();
  } finally {
    await created.close();
  }
}

function isArray(ids: GetRequest['ids']): ids is readonly string[] {
  return Array.isArray(ids);
}

function requireIds(ids: readonly string[]): void {
  const wrong = ids.find((id) => !isAssetId(id));
  if (wrong !== undefined) throw new ExportError('usage', `not an asset id: ${JSON.stringify(wrong)}`);
}

async function* inOrder(ids: Iterable<string>): AsyncGenerator<string, void, void> {
  yield* ids;
}

type Calls = AsyncGenerator<readonly string[], void, void>;

async function* inCalls(ids: AsyncIterable<string>, size: number): Calls {
  let call: string[] = [];
  for await (const id of ids) {
    call.push(id);
    if (call.length < size) continue;
    yield call;
    call = [];
  }
  if (call.length > 0) yield call;
}

/** What was pulled from a generator already, then the rest of it. */
async function* continued(pulled: readonly IteratorResult<readonly string[], void>[], rest: Calls): Calls {
  for (const { value } of pulled) if (value !== undefined) yield value;
  yield* rest;
}
