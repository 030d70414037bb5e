import { ExportError } from '../../lib/export-error.ts';
import { commitsOf, SliceLog, type SpentInScratch, spentOf, sliceNames } from '../../places/log/slice-log.ts';
import type { Commit, Spent } from '../../places/export/export-facts.ts';
import type { HomePlace } from '../../core/run/homes/home-place.ts';
import type { EnqueuedSlice } from '../../core/run/homes/home-start.ts';
import { type ClaimedSlice, claimSlice, type SliceToClaim } from '../../core/run/homes/claim-slice.ts';
import type { HeldSlice } from '../../core/run/homes/export-home.ts';
import { heldElsewhere } from '../../core/run/homes/home-lock.ts';
import { damagedCommits } from '../../core/run/homes/open-slices.ts';
import { ownScratchId } from '../../core/run/homes/slice-holders.ts';
import { createHash } from 'node:crypto';
import { Entries, storedEntries } from '../../core/ids/entries.ts';
import { idsTable } from '../../core/records/id-tables.ts';
import type { RowBlock } from '../../core/records/row-block.ts';
import { csvBlocks } from '../../exports/csv-blocks.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { PackedBlocks } from '../../places/export/codec.ts';

export type FleetPlace = HomePlace & Pick<SliceToClaim, 'canReplace' | 'requireCurrent'>;

/** The slices of an export that was enqueued, as one worker knows them: their logs, and what it spent. */
export class FleetSlices {
  readonly place: FleetPlace;
  readonly all: readonly EnqueuedSlice[];
  /** Names of the inputs. */
  readonly #sources: readonly string[];
  /** Whether this worker waited for others since it last held a slice: then one of them completes the export. */
  hasWaited = false;
  readonly #logs = new Map<number, SliceLog>();
  /** What was counted on this disk, by slice. */
  readonly #own = new Map<number, SpentInScratch>();
  #held: ClaimedSlice | undefined;

  constructor(place: FleetPlace, slices: readonly EnqueuedSlice[], sources: readonly string[]) {
    this.place = place;
    this.all = slices;
    this.#sources = sources;
  }

  /** The log of a slice, as it was last read. */
  log(slice: number): SliceLog {
    const log = this.#logs.get(slice) ?? new SliceLog(this.place.store, slice);
    this.#logs.set(slice, log);
    return log;
  }

  /**
   * Claims a slice; undefined when another process has it, or it is done.
   * @param whenHeld `take` where the caller has seen that its holder is dead
   * @throws {ExportIsComplete}
   */
  async tryClaim(slice: number, stop: AbortSignal, whenHeld: 'skip' | 'take'): Promise<HeldSlice | undefined> {
    const { place } = this;
    const enqueued = this.all[slice];
    const log = this.log(slice);
    if (enqueued === undefined) throw new Error(`there is no slice ${slice}`);
    if (whenHeld === 'skip' && (await this.#isHeldElsewhere(log))) return undefined;
    const { firstPart } = enqueued;
    const cut = { slice, firstPart, entries: () => sliceEntries(place, slice, enqueued, this.#sources) };
    const beforeTakeover = async (): Promise<void> => {
      if (whenHeld === 'skip') throw heldElsewhere(place.address);
    };
    const damaged = await damagedCommits(place, commitsOf([log]));
    const claimed = await claimSlice({ ...place, log, cut, stop, damaged, beforeTakeover }).catch((error: unknown) => {
      if (error instanceof ExportError && error.exit === 'locked' && error.why?.kind !== 'startedOver')
        return undefined;
      throw error;
    });
    if (claimed === undefined) return undefined;
    this.hasWaited = false;
    this.#held = claimed;
    this.#own.set(slice, claimed);
    return claimed.slice;
  }

  commits(): Commit[] {
    return commitsOf(this.#logs.values());
  }

  /** What is known of the slices that this worker has looked at. */
  spent(): Spent {
    return spentOf(this.#logs.values(), ({ slice }) => this.#own.get(slice));
  }

  async close(): Promise<void> {
    await this.#held?.close();
  }

  /** A holder that worked in this disk's scratch folder may be followed at once: its lock tells whether it lives. */
  async #isHeldElsewhere({ slice, state }: SliceLog): Promise<boolean> {
    if (state.holder === undefined) return false;
    return (await ownScratchId(this.place, slice)) !== state.holder.scratch;
  }
}

const names = idsTable.columns.map(({ name }) => name);
const layout = { columns: idsTable.columns, names, written: names, csvNullText: '' };

/**
 * The entries of a slice with duplicates marked. They are copied to the slice's scratch folder and checked first: a part is made of what
 * was enqueued or not at all.
 * @param sources names of the inputs, by `IdEntry.source`
 * @throws {ExportError} `damaged`
 */
async function* sliceEntries(
  place: HomePlace,
  slice: number,
  { ids }: EnqueuedSlice,
  sources: readonly string[],
): AsyncGenerator<Entries, void, void> {
  const { files, store, address, scratch } = place;
  const path = pathIn(scratch, `${sliceNames.scratch(slice)}/${exportPaths.run}/ids`);
  const file = await files.open(path, 'create');
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const block of store.read(sliceNames.ids(slice))) {
      hash.update(block);
      await file.write(block, bytes);
      bytes += block.length;
    }
    if (hash.digest('hex') !== ids.sha256) throw changed(address, sliceNames.ids(slice));
    const sourceOf = new Map(sources.map((name, index) => [name, index]));
    for await (const rows of csvBlocks(new PackedBlocks(file).all(), layout)) yield entriesOf(rows, sourceOf);
  } finally {
    await file.close();
  }
}

function entriesOf(rows: RowBlock, sourceOf: ReadonlyMap<string, number>): Entries {
  const entries = Entries.take(rows.rows);
  for (const { input, ...entry } of storedEntries(rows)) entries.add({ ...entry, source: sourceOf.get(input) ?? 0 });
  return entries;
}

function changed(address: string, name: string): ExportError {
  return new ExportError('damaged', `${address}/${name} is missing or was changed after it was enqueued`, {
    todo: 'Run asset-export enqueue with the same job and ids again: it puts what is missing or changed.',
  });
}
