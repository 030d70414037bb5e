import { createClient } from '../client/create-client.ts';
import { isAssetId } from '../ids/asset-id.ts';
import { IdList } from '../ids/id-list.ts';
import type { RecordRows } from '../records/scan/record-rows.ts';
import { lookUpAlone, lookUpBatch } from '../client/look-up-batch.ts';
import type { Lookup } from '../client/lookups.ts';
import type { AnswerJournal } from '../client/policies/with-journal.ts';
import type { Job } from '../job/job-schema.ts';
import { tlsFor } from '../job/tls-files.ts';
import { ExportError } from '../lib/export-error.ts';
import { mapOrdered } from '../lib/map-ordered.ts';
import type { ExportContext } from '../work/export-context.ts';
import { readerOf } from '../work/tables-of.ts';
import { beginPlan, braked } from './run-brake.ts';

/** An id and what became of it. */
export interface AssetFate {
  readonly id: string;
  readonly lookup: Lookup<RecordRows>;
}

export interface GetRequest {
  /** Valid ids; a repeated id is requested once. */
  readonly ids: readonly string[];
  readonly job: Pick<Job, 'service' | 'budget'>;
}

export type GetContext = Omit<ExportContext, 'files' | 'stdin' | 'version'>;

/** Keeps no answers: they go straight to the reader. */
const noJournal: AnswerJournal = {
  find: () => Promise.resolve(undefined),
  append: () => Promise.resolve(),
};

/**
 * Gets assets without an export: `getAsset` for one id, `getAssets` for more, in the order of the ids.
 * @throws {ExportError} `usage` when one is no asset id; nothing is sent then
 */
export async function* getAssets({ ids, job }: GetRequest, given: GetContext): AsyncGenerator<AssetFate, void, void> {
  const { flags, idsPerCall, singles, concurrency } = job.service;
  const unique = [...new Set(ids)];
  const wrong = unique.find((id) => !isAssetId(id));
  if (wrong !== undefined) throw new ExportError('usage', `not an asset id: ${JSON.stringify(wrong)}`);
  const context = braked(given, job);
  const reader = readerOf([]);
  await beginPlan(context, job);
  const created = createClient({
    ...{ ...context, ...job.service, ...context.service, budget: job.budget, journal: noJournal },
    tls: tlsFor(context.service.url, job.service.tls),
    initialCap: await context.pace?.idsPerCall(),
  });
  try {
    const found = mapOrdered(inCalls(unique, idsPerCall), {
      limit: concurrency,
      map: async (batch) => {
        const ids = IdList.of(batch);
        const { lookups } =
          unique.length === 1
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

async function* inCalls(ids: readonly string[], size: number): AsyncGenerator<readonly string[], void, void> {
  for (let start = 0; start < ids.length; start += size) yield ids.slice(start, start + size);
}
