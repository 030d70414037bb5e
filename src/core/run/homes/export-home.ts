import type { Entries } from '../../ids/entries.ts';
import type { IdInput } from '../../ids/id-input.ts';
import type { ExportStart, Commit, Spent } from '../../../places/export/export-facts.ts';
import type { KeptAnswers } from '../../../places/scratch/journal.ts';
import type { Lock } from '../../../places/files/lock.ts';
import type { Manifest, NewManifest } from '../../../places/export/manifest.ts';
import type { RunLine } from '../history/run-lines.ts';
import type { ExportPlace } from './export-place.ts';
import type { PartsToMake } from '../../work/make-parts.ts';

/** Consecutive whole parts that one process makes at a time. The export of a folder is one slice. */
export interface HeldSlice extends PartsToMake {
  /** Told of the ids of answers that came or were kept: other processes see how many. */
  readonly onAnswered?: (ids: number) => void;
  /** Publishes the files of a part, then commits it. `lost`: another process took the slice, and nothing was committed. */
  commit(commit: Commit): Promise<'committed' | 'lost'>;
  /** `done`: every part is committed. `release`: another process may resume at once. */
  end(how: 'done' | 'release'): Promise<void>;
}

/** Hands out the slices of an export. */
export interface SliceSource {
  /** The next slice that this process holds; undefined when none is left. @throws {ExportError} `locked` */
  next(stop: AbortSignal): Promise<HeldSlice | undefined>;
}

/** An export that is not complete, open for one run. */
export interface OpenExport {
  readonly start: ExportStart;
  /** As far as its start tells: that of a fleet comes before all work. */
  readonly isNew: boolean;
  /** Answers that earlier runs kept. */
  readonly answers: number;
  readonly slices: SliceSource;
  /** Every committed part, in order. */
  commits(): readonly Commit[];
  spent(): Spent;
  /** The history of runs, where other processes keep theirs too: by default that of this one is all. */
  readonly records?: () => Promise<readonly RunLine[]>;
  close(): Promise<void>;
}

/** How far an unfinished export is. */
export interface ExportProgress {
  readonly start: ExportStart;
  /** In order; of several processes, not without gaps. */
  readonly commits: readonly Commit[];
  readonly spent: Spent;
}

export interface ToThrowAway {
  readonly inputs: readonly IdInput[];
  /** Ends the wait for a process that may be dead. */
  readonly stop: AbortSignal;
}

/** One export in its place, opened, resumed, completed and cleared. Relative names are those of `exportPaths`. */
export interface ExportHome {
  /** The folder or the address of the bucket, for messages and accounts. */
  readonly name: string;
  /** Where `status` and `report` read it. */
  readonly place: ExportPlace;
  /** Local folder of the lock, of ids from stdin and of the history of runs. */
  readonly scratch: string;
  /** The export within this one that requests what an export with a base has to request. */
  asked(): ExportHome;
  /** @throws {ExportError} `usage` where other files are and no export */
  requireOwn(): Promise<void>;
  /** The manifest of a complete export that no process works on; undefined for any other. */
  readIdle(): Promise<Manifest | undefined>;
  readManifest(): Promise<Manifest | undefined>;
  /** Read without changing anything; undefined for an export that has not begun. */
  readProgress(): Promise<ExportProgress | undefined>;
  /** Answers that are kept on this disk. */
  readAnswers(): Promise<KeptAnswers>;
  /** Makes a manifest that was read survive a loss of power. */
  syncManifest(): Promise<void>;
  /**
   * Checks the files where that is cheap, writes the manifest and reads it back.
   * @param onPut called if no other process put it before
   */
  putManifest(manifest: NewManifest, onPut?: () => void): Promise<Manifest>;
  /** Writes the manifest of a complete export anew: its tables are as they were. */
  replaceManifest(manifest: NewManifest): Promise<Manifest>;
  /** Whether a run was interrupted while it threw the export away. */
  isThrowingAway(): Promise<boolean>;
  throwAway(what: ToThrowAway): Promise<void>;
  /** Opens the export where it stands, or begins it. @throws {ExportError} when it began with another job or inputs */
  open(start: ExportStart, entries: () => AsyncIterable<Entries>): Promise<OpenExport>;
  /** Removes what a run no longer needs: of an export that is complete, or was refused before it began. */
  clear(outcome: 'complete' | 'unfinished' | 'refused', lock: Lock, warn?: (message: string) => void): Promise<void>;
}
