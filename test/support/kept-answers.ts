import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { IdList } from '../../src/core/ids/id-list.ts';
import { callKey } from '../../src/core/client/wire/call-body.ts';
import { openHome } from '../../src/core/run/homes/open-home.ts';
import { jobOfNothing } from '../../src/core/run/job-shape.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { exportPaths } from '../../src/places/export/export-folder.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { readJournals } from '../../src/places/scratch/journal.ts';

export interface KnownBatch {
  readonly firstId: string;
  /** Under which the journal keeps its answer. */
  readonly key: string;
  /** Number of its last entry, from 0. */
  readonly last: number;
}

const flags = { showFungible: false, showCollectionMetadata: false, showUnverifiedCollections: false };

/** The batches that an export makes of these entries when nothing is split, in order. */
export function knownBatches(entries: readonly string[], idsPerCall: number): KnownBatch[] {
  const places = new Map<string, number>();
  for (const [place, entry] of entries.entries()) {
    if (!entry.startsWith('spoiled') && !places.has(entry)) places.set(entry, place);
  }
  const ids = [...places.keys()];
  return Array.from({ length: Math.ceil(ids.length / idsPerCall) }, (_, index) => {
    const batch = ids.slice(index * idsPerCall, (index + 1) * idsPerCall);
    const key = callKey({ method: 'getAssets', ids: IdList.of(batch), flags, part: 0 });
    return { firstId: batch[0] ?? '', key, last: places.get(batch.at(-1) ?? '') ?? 0 };
  });
}

/** First ids of the batches that are in committed parts or in the journal. Changes nothing: a run may be under way. */
export async function keptAnswers(folder: string, batches: readonly KnownBatch[]): Promise<string[]> {
  if (existsSync(join(folder, exportPaths.manifest))) return batches.map(({ firstId }) => firstId);
  // The journal goes after its part is committed, so it is read first.
  const journal = await readJournals(localDisk, [folder]);
  const kept = new Set<string>();
  for (const { firstId, key } of batches) if ((await journal.find(key)) !== undefined) kept.add(firstId);
  const context = { files: localDisk, clock: systemClock, random: Math.random };
  const progress = await (await openHome(jobOfNothing(folder), context)).readProgress();
  const committed = progress?.commits.reduce((sum, { counts }) => sum + counts.read, 0) ?? 0;
  for (const { firstId, last } of batches) if (last < committed) kept.add(firstId);
  return [...kept];
}
