import { partFiles } from '../complete-export.ts';
import { type CutSlice, cutSlices } from '../../ids/batch-ids.ts';
import type { Entries } from '../../ids/entries.ts';
import {
  partsWithDamage,
  commitsOf,
  readLogs,
  SliceLog,
  type SpentInScratch,
  spentOf,
} from '../../../places/log/slice-log.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';
import type { Commit, ExportStart, Spent } from '../../../places/export/export-facts.ts';
import { readJournals } from '../../../places/scratch/journal.ts';
import { requireSame } from '../job-shape.ts';
import { type ClaimedSlice, claimSlice, type SliceToClaim } from './claim-slice.ts';
import type { HeldSlice, OpenExport } from './export-home.ts';
import type { HomePlace } from './home-place.ts';
import { beginOrRead, ExportIsComplete, type HomeStart, readStart } from './home-start.ts';

/** Opens an export where it stands, or begins it. Its slices come in order; in a folder there is one. */
export async function openExport(
  place: HomePlace,
  start: ExportStart,
  entries: () => AsyncIterable<Entries>,
): Promise<OpenExport> {
  const { files, store, address, scratch, shape, shared } = place;
  const { canReplace } = (await shared?.probeStore(store, address)) ?? { canReplace: true };
  if (shared === undefined && (await readStart(place)) === undefined) await requireNoParts(place);
  const isWhole = shared === undefined || place.isWhole === true;
  const { entriesPerSlice } = isWhole ? {} : shape;
  const { begun, isNew } = await beginOrRead(
    place,
    entriesPerSlice === undefined ? start : { ...start, entriesPerSlice },
  );
  requireSame(address, begun, start);
  requireSameSlices(address, begun, entriesPerSlice);
  const logs = await readLogs(place);
  const all = commitsOf(logs.values());
  const damaged = await damagedCommits(place, all);
  const commits = all.filter(({ part }) => !damaged.has(part));
  const current = shared && new shared.CurrentStart(place, begun);
  const cuts = isWhole ? wholeOf(entries) : cutSlices(whenRead(entries), shape);
  const slices = new OpenSlices(
    { ...place, canReplace, damaged, requireCurrent: () => current?.require() },
    logs,
    cuts,
  );
  const folders = shared === undefined ? [scratch] : await shared.sliceFolders(place);
  const committed = new Set(commits.map(({ part }) => part));
  return {
    start: begun,
    isNew,
    answers: (await readJournals(files, folders, (part) => !committed.has(part))).size(),
    slices,
    commits: () => slices.commits(),
    spent: () => slices.spent(),
    ...(shared && { records: () => shared.readRunHistories(place) }),
    close: () => slices.close(),
  };
}

/** An export with a base knows its entries when what it requests is there. */
async function* whenRead(entries: () => AsyncIterable<Entries>): AsyncGenerator<Entries, void, void> {
  yield* entries();
}

/** All entries as one slice. */
async function* wholeOf(entries: () => AsyncIterable<Entries>): AsyncGenerator<CutSlice, void, void> {
  yield { slice: 0, firstPart: 0, entries };
}

/** An export begins before its first part: parts without its start are those of one that lost it. */
async function requireNoParts({ files, address }: HomePlace): Promise<void> {
  const [part] = await partFiles(files, address);
  if (part === undefined) return;
  const path = pathIn(address, exportPaths.start);
  throw new ExportError('damaged', `${path} is missing, but ${part} exists: the progress of the export is lost`, {
    todo: 'Restore the folder from a copy, or start over with --fresh. It deletes these files and pays for all calls again.',
  });
}

/** Committed files are not made again: one that is gone or cut would be found missing only at the end. */
export async function damagedCommits(
  place: HomePlace,
  commits: readonly Commit[],
): Promise<ReadonlyMap<number, string>> {
  const { onDamaged } = place;
  if (onDamaged === undefined) return new Map();
  const damaged = await partsWithDamage(
    place,
    commits.flatMap(({ files }) => files),
  );
  for (const commit of commits) {
    const damage = damaged.get(commit.part);
    if (damage !== undefined) onDamaged(commit, damage);
  }
  return damaged;
}

export function requireSameSlices(address: string, { entriesPerSlice }: HomeStart, now: number | undefined): void {
  if (entriesPerSlice === now) return;
  throw new ExportError(
    'usage',
    `fleet.entriesPerSlice was ${entriesPerSlice} when ${address} started, and is ${now} now`,
    {
      why: { kind: 'changed', changed: 'fleet.entriesPerSlice' },
      todo: 'Undo the change to resume, choose another output, or start over with --fresh.',
    },
  );
}

type OpenPlace = HomePlace & Pick<SliceToClaim, 'canReplace' | 'damaged' | 'requireCurrent'>;

/** The slices of an export in order: those that are done are skipped, each other one is claimed. */
class OpenSlices {
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
      const { isDone, commits } = await log.refresh();
      if (isDone && ![...commits.keys()].some((part) => this.#place.damaged?.has(part))) continue;
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
