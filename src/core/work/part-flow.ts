import type { AssetClient } from '../client/asset-client.ts';
import type { AbsenceDesk } from '../client/second-answers.ts';
import type { Job } from '../job/job-schema.ts';
import type { RowBlock } from '../records/row-block.ts';
import type { Begun, Counts } from '../../places/export/export-facts.ts';
import type { PartsContext } from './parts-context.ts';
import type { BatchOrigins } from './batch-origins.ts';
import type { IdList } from '../ids/id-list.ts';
import type { Journal } from '../../places/scratch/journal.ts';
import type { Batch } from '../ids/batch-ids.ts';
import { fetchBatches } from './fetch-batches.ts';
import type { Holding } from './held-bytes.ts';
import { fileOptionsOf } from './part-build.ts';
import { readyProver } from '../records/shape-table.ts';
import { readerOf, tablesOf } from './tables-of.ts';
import { type FinishedPart, writeParts } from './write-parts.ts';

export interface PartFlow extends Pick<PartsContext, 'files' | 'clock'> {
  readonly job: Job;
  /** Local folder where files are made. */
  readonly scratch: string;
  readonly client: AssetClient;
  readonly absence?: AbsenceDesk | undefined;
  /** In an export with a base: where the rows of answered ids come from. */
  readonly originsOf?: ((ids: IdList) => BatchOrigins | undefined) | undefined;
  /** Holds the client's answers. A part's are safe before the part is yielded. */
  readonly journal: Omit<Journal, 'close'>;
  /** Names of the inputs, by `IdEntry.source`. */
  readonly sources: readonly string[];
  /** Rows of `changes` that are of no id. */
  readonly tail?: (() => AsyncIterable<RowBlock>) | undefined;
  readonly begun: Begun;
  /** With 0, an export of nothing gets its one part. */
  readonly firstPart: number;
  /** Calls that this thread should have in flight. */
  readonly concurrency: number;
  readonly mostBytes: number;
  readonly onHolding: (holding: Holding) => void;
  readonly onSettled: (counts: Counts) => void;
  readonly halt: (reason: unknown) => void;
}

/**
 * The half of the flow that is the same on every thread: batches → answers → rows → files. Each stage pulls the one before.
 * Yields each part when its files are whole.
 */
export async function* partsOf(
  batches: AsyncIterable<Batch>,
  flow: PartFlow,
): AsyncGenerator<FinishedPart, void, void> {
  const { job, scratch, files, client, journal, sources, begun, firstPart } = flow;
  const { formats, keepIds } = job.output;
  const { flags, singles, idsPerCall } = job.service;
  const tables = tablesOf(job, begun);
  await readyProver(job.output);
  const fetched = fetchBatches(batches, { ...flow, client, flags, reader: readerOf(tables), singles, idsPerCall });
  const parts = writeParts(fetched, {
    files,
    folder: scratch,
    formats,
    tables,
    keepIds,
    ...fileOptionsOf(job),
    sources,
    firstPart,
    startedAtMs: begun.startedAtMs,
    tail: flow.tail,
  });
  for await (const part of parts) {
    await journal.closePart(part.part);
    yield part;
  }
}
