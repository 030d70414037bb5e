import { cutSlices, type CutSlice } from '../../ids/cut-slices.ts';
import type { Entries } from '../../ids/entries.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { probeStore } from '../../../places/objects/probe-store.ts';
import { commitsOf, SliceLog, type SpentInScratch, spentOf } from '../../../places/log/slice-log.ts';
import type { ExportStart } from '../../../places/scratch/checkpoint.ts';
import type { Commit } from '../../../places/export/export-facts.ts';
import type { Spent } from '../../../places/export/spent.ts';
import { readJournals } from '../../../places/scratch/journal-entries.ts';
import { requireSame } from '../job-shape.ts';
import type { BucketPlace } from './bucket-place.ts';
import { readRunRecords } from './bucket-record.ts';
import { type BucketStart, beginOrRead } from './bucket-start.ts';
import { type ClaimedSlice, claimSlice, type SliceToClaim } from './claim-slice.ts';
import { CurrentStart, ExportIsComplete } from './current-start.ts';
import type { HeldSlice, OpenExport } from './export-home.ts';
import { readLogs, sliceFolders } from './slice-holders.ts';

/** Opens an export in a bucket where it stands, or begins it. Its slices come in order. */
export async function openBucketExport(
  place: BucketPlace,
  start: ExportStart,
  entries: () => AsyncIterable<Entries>,
): Promise<OpenExport> {
  const { store, address, shape } = place;
  const { canReplace } = await probeStore(store, address);
  const { entriesPerSlice } = shape;
  const begun = await beginOrRead(place, { ...start, entriesPerSlice });
  requireSame(address, begun, start);
  requireSameSlices(address, begun, entriesPerSlice);
  const current = new CurrentStart(place, begun);
  const slices = new BucketSlices(
    { ...place, canReplace, requireCurrent: () => current.require() },
    await readLogs(place),
    cutSlices(whenRead(entries), shape),
  );
  return {
    start: begun,
    answers: (await readJournals(place.files, await sliceFolders(place))).size(),
    slices,
    commits: () => slices.commits(),
    spent: () => slices.spent(),
    records: () => readRunRecords(place),
    close: () => slices.close(),
  };
}

/** An export with a base knows its entries when what it requests is there. */
async function* whenRead(entries: () => AsyncIterable<Entries>): AsyncGenerator<Entries, void, void> {
  yield* entries();
}

export function requireSameSlices(address: string, { entriesPerSlice }: BucketStart, now: number): void {
  if (entriesPerSlice === now) return;
  throw new ExportError(
    'usage',
    `fleet.entriesPerSlice was ${entriesPerSlice} when ${address} started, and is ${now} now`,
    {
      facts: { changed: 'fleet.entriesPerSlice' },
      todo: 'Undo the change to resume, choose another output, or start over with --fresh.',
    },
  );
}

type OpenPlace = BucketPlace & Pick<SliceToClaim, 'canReplace' | 'requireCurrent'>;

/** The slices of a bucket in order: those that are done are skipped, each other one is claimed. */
class BucketSlices {
  readonly #place: OpenPlace;
  readonly #logs: Map<number, SliceLog>;
  readonly #cuts: AsyncGenerator<CutSlice, void, void>;
  /** What was counted on this disk, by slice. */
  readonly #own = new Map<number, SpentInScratch>();
  #held: ClaimedSlice | undefined;

  constructor(place: OpenPlace, logs: Map<number, SliceLog>, cuts: AsyncGenerator<CutSlice, void, void>) {
    this.#place = place;
    this.#logs = logs;
    this.#cuts = cuts;
  }

  async next(stop: AbortSignal): Promise<HeldSlice | undefined> {
    for (;;) {
      const next = await this.#cuts.next();
      if (next.done === true) return undefined;
      const cut = next.value;
      const log = this.#logs.get(cut.slice) ?? new SliceLog(this.#place.store, cut.slice);
      this.#logs.set(cut.slice, log);
      if ((await log.refresh()).isDone) continue;
      const held = await claimSlice({ ...this.#place, log, cut, stop }).catch((error: unknown) => {
        if (error instanceof ExportIsComplete) return 'complete' as const;
        throw error;
      });
      if (held === 'complete') return undefined;
      this.#held = held;
      // Another process finished the slice while this one waited for it.
      if (this.#held === undefined) continue;
      this.#own.set(cut.slice, this.#held);
      return this.#held.slice;
    }
  }

  commits(): Commit[] {
    return commitsOf(this.#logs.values());
  }

  spent(): Spent {
    return spentOf(this.#logs.values(), ({ slice }) => this.#own.get(slice));
  }

  async close(): Promise<void> {
    await this.#cuts.return();
    await this.#held?.close();
  }
}
