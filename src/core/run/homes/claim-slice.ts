import { hostname } from 'node:os';
import type { CutSlice } from '../../ids/batch-ids.ts';
import { ExportError } from '../../../lib/export-error.ts';
import type { Heartbeat } from '../../../places/log/heartbeat.ts';
import { SliceHold, lostSlice } from '../../../places/log/slice-hold.ts';
import { type SliceLog, sliceNames } from '../../../places/log/slice-log.ts';
import { type Commit, type Spent, openTally, type Tally } from '../../../places/export/export-facts.ts';
import { exportPaths, pathIn, journalPart } from '../../../places/export/export-folder.ts';
import { committedCounts } from '../../../places/scratch/commit-sums.ts';
import { askedIds } from '../history/run-figures.ts';
import type { Lock } from '../../../places/files/lock.ts';
import { unfinishedFile } from '../../../places/scratch/part-file.ts';
import { ExportIsComplete, ownFolder } from './home-start.ts';
import type { HeldSlice } from './export-home.ts';
import type { HomePlace } from './home-place.ts';
import type { SliceAnswers } from './kept-answers.ts';
import { heldElsewhere } from './home-lock.ts';
import type { Disk } from '../../../places/files/disk.ts';
import { type Journal, openJournal } from '../../../places/scratch/journal.ts';
import { ClosingStack } from '../../../lib/end-work.ts';

export interface SliceToClaim extends HomePlace {
  /** Whether the store replaces objects under a condition. */
  readonly canReplace: boolean;
  readonly log: SliceLog;
  readonly cut: CutSlice;
  readonly stop: AbortSignal;
  /** Awaited when another process put the last claim; by default it has to be dead. @throws {ExportError} `locked` */
  readonly beforeTakeover?: () => Promise<void>;
  /** Parts that are made again. */
  readonly damaged?: ReadonlyMap<number, string>;
  /** Awaited after the claim. @throws when the export is no longer the one that was opened */
  readonly requireCurrent: () => Promise<void> | undefined;
}

export interface ClaimedSlice {
  readonly slice: HeldSlice;
  /** Id of the slice's scratch folder. */
  readonly scratch: string;
  /** All that was counted there. */
  spent(): Spent;
  close(): Promise<void>;
}

/**
 * Claims a slice, unless a living process holds it; undefined when it was done meanwhile. The log is read to its end. In a folder
 * whose lock this process has, nobody else can hold it.
 * @throws {ExportError} `locked`
 */
export async function claimSlice(claim: SliceToClaim): Promise<ClaimedSlice | undefined> {
  const { files, store, log, shared } = claim;
  const { folder, id, lock } = await scratchOf(claim);
  let own: OpenScratch | undefined;
  try {
    const { holder } = log.state;
    // Who holds the lock of a scratch folder follows its former process at once.
    const beforeTakeover = claim.beforeTakeover ?? (() => shared?.requireDead(claim, log, claim.stop));
    if (holder !== undefined && holder.scratch !== id) await beforeTakeover();
    const lastOf = shared && ((nonce: string) => shared.readBeat(store, nonce));
    const hold = await SliceHold.claim({ ...claim, scratch: id, lastOf });
    if (hold === undefined) throw heldElsewhere(claim.address);
    await claim.requireCurrent();
    const isCommitted = (part: number): boolean => hold.state.commits.has(part);
    const answers = { files, store, folder, slice: log.slice, scratch: id, isCommitted };
    await shared?.fetchAnswers(answers);
    own = await openScratch(files, folder, isCommitted);
    const answered = { ids: askedIds(committedCounts([...hold.state.commits.values()])) };
    const heartbeat = await startHeart(claim, { hold, own, id, answered });
    return new ClaimedParts(claim, { folder, lock, id, hold, answers, own, heartbeat, answered });
  } catch (error) {
    await own?.close().catch(() => undefined);
    if (error instanceof ExportIsComplete) await store.remove([lastEntry(log)]).catch(() => undefined);
    await lock?.release().catch(() => undefined);
    if (log.state.isDone) return undefined;
    throw error;
  }
}

/** Where the parts of a slice are made on this disk: in an export in a folder, there. */
async function scratchOf({
  files,
  scratch,
  log,
  shared,
}: SliceToClaim): Promise<Pick<Claimed, 'folder' | 'id' | 'lock'>> {
  if (shared === undefined) return { folder: scratch, id: ownFolder, lock: undefined };
  const folder = pathIn(scratch, sliceNames.scratch(log.slice));
  await files.makeFolder(pathIn(folder, exportPaths.run));
  const lock = await files.takeLock(folder);
  try {
    return { folder, id: await shared.scratchId(files, folder), lock };
  } catch (error) {
    await lock.release().catch(() => undefined);
    throw error;
  }
}

/** The claim of an export whose logs were removed before. */
function lastEntry({ slice, state }: SliceLog): string {
  return sliceNames.logEntry(slice, state.next - 1);
}

async function startHeart(
  claim: SliceToClaim,
  { hold, own, id, answered }: Pick<Claimed, 'hold' | 'own' | 'id' | 'answered'>,
): Promise<Heartbeat | undefined> {
  const { store, clock, log, deadAfterSeconds, shared } = claim;
  return shared?.Heartbeat.start({
    store,
    clock,
    deadAfterSeconds,
    nonce: hold.nonce,
    slice: log.slice,
    scratch: id,
    process: { host: hostname(), pid: process.pid },
    spent: () => ({ calls: own.calls.total(), credits: own.credits.total() }),
    answered: () => answered.ids,
    isHeld: () => hold.isHeld(),
    alongside: () => shared.putHistory(claim),
  });
}

interface Claimed {
  readonly folder: string;
  /** Of the scratch folder of a slice; the lock of an export in a folder is the run's. */
  readonly lock: Lock | undefined;
  readonly id: string;
  readonly hold: SliceHold;
  readonly answers: SliceAnswers;
  readonly own: OpenScratch;
  readonly heartbeat: Heartbeat | undefined;
  /** Ids of the slice whose answers came, those in committed parts among them. */
  readonly answered: { ids: number };
}

class ClaimedParts implements ClaimedSlice {
  readonly slice: HeldSlice;
  readonly #place: HomePlace;
  readonly #claimed: Claimed;
  #isOpen = true;
  /** The store did not recover for 15 minutes: it is not asked again. */
  #isStoreGone = false;

  constructor({ cut, ...place }: SliceToClaim, claimed: Claimed) {
    this.#place = place;
    this.#claimed = claimed;
    const { folder, own, hold, heartbeat, answered } = claimed;
    const { journal, calls, credits } = own;
    this.slice = {
      scratch: folder,
      journal,
      calls,
      credits,
      firstPart: cut.firstPart,
      isNeeded: (part) => !hold.state.commits.has(part),
      entries: () => cut.entries(),
      isLast: cut.isLast,
      ...(heartbeat && { mayCall: () => heartbeat.mayCall() }),
      onAnswered: (ids) => (answered.ids += ids),
      commit: (commit) => this.#commit(commit),
      end: (how) => this.#end(how),
    };
  }

  get scratch(): string {
    return this.#claimed.id;
  }

  spent(): Spent {
    const { calls, credits } = this.#claimed.own;
    return { calls: calls.total(), credits: credits.total() };
  }

  async close(): Promise<void> {
    await this.#close();
    await this.#claimed.lock?.release();
  }

  async #close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#claimed.heartbeat?.end();
    await this.#claimed.own.close();
  }

  async #commit(commit: Commit): Promise<'committed' | 'lost'> {
    const { files } = this.#place;
    const { folder, hold } = this.#claimed;
    const facts = new Map(commit.files.map((file) => [file.path, file]));
    try {
      const result = await hold.commit(commit, (path) => {
        const { bytes = 0, sha256 = '' } = facts.get(path) ?? {};
        return { file: unfinishedFile(folder, path), bytes, sha256 };
      });
      if (result === 'lost') return 'lost';
    } catch (error) {
      this.#isStoreGone ||= error instanceof ExportError && error.exit === 'unavailable';
      throw error;
    }
    if (this.#place.shared !== undefined)
      for (const path of facts.keys()) await files.remove(unfinishedFile(folder, path));
    await files.remove(pathIn(folder, exportPaths.journal(commit.part)));
    return 'committed';
  }

  async #end(how: 'done' | 'release'): Promise<void> {
    const { files, store, abort, shared } = this.#place;
    const { folder, hold, lock, answers, answered } = this.#claimed;
    await this.#close();
    // In a folder every commit is in the log already, and nobody waits for its end.
    if (shared === undefined) return;
    if (how === 'release') {
      if (this.#isStoreGone) return;
      // Answers are hashed before they are put: where nobody takes them, that is for nothing, and may take long.
      if (abort?.aborted === true) await store.look(sliceNames.start);
      await shared.keepAnswers(answers);
      await hold.end('release', this.spent(), answered.ids);
      return;
    }
    if ((await hold.end('done', this.spent(), answered.ids)) === 'lost') throw lostSlice();
    await lock?.remove();
    await files.remove(folder);
  }
}

/** What a slice keeps on the local disk while its parts are made. */
export interface OpenScratch {
  readonly journal: Journal;
  /** Calls sent, and credits that these may have cost, over all runs in this folder. */
  readonly calls: Tally;
  readonly credits: Tally;
  close(): Promise<void>;
}

/** Opens the folder in which parts are made. What belongs to committed parts goes. */
export async function openScratch(
  files: Disk,
  folder: string,
  isCommitted: (part: number) => boolean,
): Promise<OpenScratch> {
  await files.remove(pathIn(folder, exportPaths.unfinished));
  await dropCommitted(files, folder, isCommitted);
  const open = new ClosingStack();
  try {
    const journal = open.add(await openJournal(files, folder));
    const calls = open.add(await openTally(files, pathIn(folder, exportPaths.callCount)));
    const credits = open.add(await openTally(files, pathIn(folder, exportPaths.creditCount)));
    return { journal, calls, credits, close: () => open.close() };
  } catch (error) {
    await open.close().catch(() => undefined);
    throw error;
  }
}

/** A crash between a commit and the removal of its journal leaves answers that are not needed. */
async function dropCommitted(files: Disk, folder: string, isCommitted: (part: number) => boolean): Promise<void> {
  for (const name of await files.list(pathIn(folder, exportPaths.journals))) {
    const part = journalPart(name);
    if (part !== undefined && isCommitted(part)) await files.remove(pathIn(folder, `${exportPaths.journals}/${name}`));
  }
}
