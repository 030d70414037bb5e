import { type RefreshCounts, sumOfRefresh } from './batch-origins.ts';
import { changesTable } from '../records/columns.ts';
import type { RowBlock } from '../records/row-block.ts';
import { createDriftCounter } from '../records/drift.ts';
import { type Commit, type Counts, noCounts, type Notes, noNotes, sumOf } from '../../places/export/export-facts.ts';
import type { ShapedTable } from '../records/shape-table.ts';
import type { BatchLookups } from '../client/look-up-batch.ts';
import type { FetchedBatch } from './fetch-batches.ts';
import { flattenBatch, IdRows } from './flatten-batch.ts';
import { openPart, type PartOptions } from './part-build.ts';

/** A part whose files are whole and synced, ready to be published and committed. */
export type FinishedPart = Pick<
  Commit,
  'part' | 'counts' | 'files' | 'drift' | 'notes' | 'proofs' | 'maxBytes' | 'refresh'
>;

export interface WriteOptions extends Omit<PartOptions, 'tables'> {
  readonly tables: readonly ShapedTable[];
  /** When the export began, in milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Names of the inputs, by `IdEntry.source`. */
  readonly sources: readonly string[];
  /** Rows of `changes` that are of no id: they go into the last part. */
  readonly tail?: (() => AsyncIterable<RowBlock>) | undefined;
  /** The part that comes next: written even when the input ends before it, if nothing was written yet. */
  readonly firstPart: number;
}

/** Writes the files of each part and yields it when they are finished. */
export async function* writeParts(
  batches: AsyncIterable<FetchedBatch>,
  options: WriteOptions,
): AsyncGenerator<FinishedPart, void, void> {
  let current: PartInProgress | undefined;
  let next = options.firstPart;
  try {
    for await (const fetched of batches) {
      const { part, endsPart, isLast = false } = fetched.batch;
      current ??= await beginPart(part, options);
      next = part + 1;
      await current.write(fetched);
      fetched.release();
      if (isLast) await current.writeTail();
      if (!endsPart) continue;
      const finished = await current.finish();
      current = undefined;
      yield finished;
    }
    // An export of nothing still has one part: tables that load.
    if (current === undefined && next === 0) {
      current = await beginPart(0, options);
      await current.writeTail();
    }
    if (current !== undefined) {
      const finished = await current.finish();
      current = undefined;
      yield finished;
    }
  } finally {
    await current?.discard();
  }
}

interface PartInProgress {
  write(batch: FetchedBatch): Promise<void>;
  /** Writes what is of no batch. */
  writeTail(): Promise<void>;
  finish(): Promise<FinishedPart>;
  discard(): Promise<void>;
}

async function beginPart(part: number, options: WriteOptions): Promise<PartInProgress> {
  const build = await openPart(part, { ...options, tables: options.tables.map(({ table }) => table) });
  const drift = createDriftCounter();
  const raw = options.formats.includes('raw');
  const { tables, sources } = options;
  const ids = options.keepIds ? new IdRows(sources) : undefined;
  const fetchedAtUs = options.startedAtMs * 1000;
  const hasChanges = tables.some(({ whole }) => whole === changesTable);
  const changeRows = hasChanges ? (await import('./change-rows.ts')).changeRows : undefined;
  let counts: Counts = noCounts;
  let extras: Notes = noNotes;
  let refresh: RefreshCounts | undefined;
  return {
    write: async (batch) => {
      const flat = flattenBatch(batch, { tables, raw, ids, sources, drift, fetchedAtUs, changeRows });
      counts = sumOf(noCounts, [counts, batch.counts]);
      if (batch.origins !== undefined) refresh = sumOfRefresh([refresh, batch.origins.counts]);
      if (batch.found !== undefined) extras = sumOf(noNotes, [extras, extrasOf(batch.found)]);
      await build.write(flat);
    },
    writeTail: async () => {
      for await (const block of options.tail?.() ?? []) {
        const rows = new Map([[changesTable.name, [block]]]);
        await build.write({ rows, raw: [], unexported: [], ids: [] });
      }
    },
    finish: async () => {
      const { notes, ...built } = await build.finish();
      const made = { part, counts, ...built, drift: drift.list(), notes: { ...extras, ...notes } };
      return refresh === undefined ? made : { ...made, refresh };
    },
    discard: () => build.discard(),
  };
}

/** Records that belong to no id of their call. */
function extrasOf({ counts }: BatchLookups): Notes {
  return {
    ...noNotes,
    foreignRecords: counts.foreign,
    repeatedRecords: counts.repeated,
    recordsWithoutId: counts.idless,
    otherResponseIds: counts.otherResponseId,
  };
}
