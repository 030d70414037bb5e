import { createDriftCounter } from '../assets/drift.ts';
import { type Commit, type Counts, noCounts, type Notes, noNotes, sumOf } from '../store/export-facts.ts';
import type { ShapedTable } from '../assets/shape-table.ts';
import { flattenSlice } from './flatten-slice.ts';
import { openPart, type PartBuild, type PartOptions } from './part-build.ts';
import type { PartSlice } from './part-slices.ts';

/** A part whose files are whole, synced and named, ready to be committed. */
export type FinishedPart = Pick<Commit, 'part' | 'counts' | 'files' | 'drift' | 'notes'>;

export interface WriteOptions extends Omit<PartOptions, 'tables'> {
  readonly tables: readonly ShapedTable[];
  /** Names of the inputs, by `IdEntry.source`. */
  readonly sources: readonly string[];
  readonly rowsPerPart: number;
  /** The part that comes next: written even when the input ends before it, if nothing was written yet. */
  readonly firstPart: number;
}

/** Writes the files of each part and yields it when they are finished. */
export async function* writeParts(
  slices: AsyncIterable<PartSlice>,
  options: WriteOptions,
): AsyncGenerator<FinishedPart, void, void> {
  let current: PartInProgress | undefined;
  let next = options.firstPart;
  try {
    for await (const slice of slices) {
      current ??= await beginPart(slice.part, options);
      next = slice.part + 1;
      await current.write(slice);
      // A full part does not wait for the answers of the next.
      if (!current.isFull()) continue;
      const finished = await current.finish();
      current = undefined;
      yield finished;
    }
    // An export of nothing still has one part: tables that load.
    if (current === undefined && next === 0) current = await beginPart(0, options);
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
  write(slice: PartSlice): Promise<void>;
  isFull(): boolean;
  finish(): Promise<FinishedPart>;
  discard(): Promise<void>;
}

async function beginPart(part: number, options: WriteOptions): Promise<PartInProgress> {
  const build: PartBuild = await openPart(part, { ...options, tables: options.tables.map(({ table }) => table) });
  const drift = createDriftCounter();
  const raw = options.formats.includes('raw');
  const { tables, sources } = options;
  let counts: Counts = noCounts;
  let extras: Notes = noNotes;
  return {
    write: async (slice) => {
      const flat = flattenSlice(slice, { tables, raw, sources, drift });
      counts = sumOf(noCounts, [counts, flat.counts]);
      extras = sumOf(noNotes, [extras, { ...noNotes, ...slice.extras }]);
      await build.write(flat);
    },
    isFull: () => counts.read === options.rowsPerPart,
    finish: async () => {
      const { files, notes } = await build.finish();
      return { part, counts, files, drift: drift.list(), notes: { ...extras, ...notes } };
    },
    discard: () => build.discard(),
  };
}
