import type { AssetClient } from '../client/asset-client.ts';
import type { Job } from '../job/job-schema.ts';
import type { FileStore } from '../store/file-store.ts';
import type { Batch } from './batch-ids.ts';
import { fetchBatches } from './fetch-batches.ts';
import type { Holding } from './held-bytes.ts';
import { partSlices } from './part-slices.ts';
import { planOf, tablesOf } from './tables-of.ts';
import { type FinishedPart, writeParts } from './write-parts.ts';

export interface PartFlow {
  readonly job: Job;
  readonly files: FileStore;
  readonly client: AssetClient;
  /** Names of the inputs, by `IdEntry.source`. */
  readonly sources: readonly string[];
  /** When the export began. */
  readonly startedAtMs: number;
  readonly isNeeded: (part: number) => boolean;
  /** With 0, an export of nothing gets its one part. */
  readonly firstPart: number;
  /** Calls that this thread should have in flight. */
  readonly concurrency: number;
  readonly mostBytes: number;
  readonly onHolding: (holding: Holding) => void;
  readonly halt: (reason: unknown) => void;
}

/**
 * The half of the flow that is the same on every thread: batches → answers → slices of parts → files. Each stage pulls
 * the one before. Yields each part when its files are whole and named.
 */
export function partsOf(batches: AsyncIterable<Batch>, flow: PartFlow): AsyncGenerator<FinishedPart, void, void> {
  const { job, files, client, sources, startedAtMs, isNeeded, firstPart } = flow;
  const { rowsPerPart, formats, compression, dir } = job.output;
  const { flags, singles } = job.service;
  const tables = tablesOf(job, startedAtMs);
  const fetched = fetchBatches(batches, { ...flow, client, flags, plan: planOf(tables), singles });
  return writeParts(partSlices(fetched, { rowsPerPart, isNeeded }), {
    files,
    folder: dir,
    formats,
    tables,
    compression,
    escapeFormulas: job.csv.formulas === 'escape',
    csvDialect: job.csv.dialect,
    sources,
    rowsPerPart,
    firstPart,
  });
}
