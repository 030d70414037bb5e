import { createClient } from '../client/create-client.ts';
import { isAssetId } from '../assets/asset-id.ts';
import { IdList } from '../assets/id-list.ts';
import { lookUpAlone, lookUpBatch } from '../client/look-up-batch.ts';
import type { Lookup } from '../client/lookups.ts';
import type { AnswerJournal } from '../client/with-journal.ts';
import type { Job } from '../job/job-schema.ts';
import { ExportError } from '../lib/export-error.ts';
import { mapOrdered } from '../lib/map-ordered.ts';
import type { ExportContext } from './export-context.ts';

/** An id and what became of it. */
export interface AssetFate {
  readonly id: string;
  readonly lookup: Lookup;
}

export interface GetRequest {
  /** Valid; an id that stands there twice is asked for once. */
  readonly ids: readonly string[];
  readonly job: Pick<Job, 'service' | 'budget'>;
}

export type GetContext = Omit<ExportContext, 'files' | 'stdin' | 'version'>;

/** Nothing is kept: what is got goes straight to the reader. */
const noJournal: AnswerJournal = {
  find: () => Promise.resolve(undefined),
  append: () => Promise.resolve(),
};

/**
 * Gets assets without an export: `getAsset` for one id, `getAssets` for more, in the order of the ids.
 * @throws {ExportError} `usage` when one is no asset id; nothing is sent then
 */
export async function* getAssets({ ids, job }: GetRequest, context: GetContext): AsyncGenerator<AssetFate, void, void> {
  const { flags, idsPerCall, singles, concurrency } = job.service;
  const unique = [...new Set(ids)];
  const wrong = unique.find((id) => !isAssetId(id));
  if (wrong !== undefined) throw new ExportError('usage', `not an asset id: ${JSON.stringify(wrong)}`);
  const wire = createClient({ ...context, ...job.service, ...context.service, budget: job.budget, journal: noJournal });
  try {
    const found = mapOrdered(batchesOf(unique, idsPerCall), {
      limit: concurrency,
      map: async (batch) => {
        const ids = IdList.of(batch);
        const { lookups } =
          unique.length === 1
            ? await lookUpAlone(wire.client, { ids, flags, part: 0 })
            : await lookUpBatch(wire.client, { ids, flags, part: 0, singles });
        return { batch, lookups };
      },
    });
    for await (const { batch, lookups } of found) {
      for (const [place, id] of batch.entries()) yield { id, lookup: lookups.at(place) };
    }
  } finally {
    await wire.close();
  }
}

async function* batchesOf(ids: readonly string[], size: number): AsyncGenerator<readonly string[], void, void> {
  for (let start = 0; start < ids.length; start += size) yield ids.slice(start, start + size);
}
