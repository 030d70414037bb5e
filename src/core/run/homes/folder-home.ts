import type { Entries } from '../../ids/entries.ts';
import { ExportError } from '../../../lib/export-error.ts';
import {
  type Checkpoint,
  type ExportStart,
  openCheckpoint,
  readCheckpoint,
} from '../../../places/scratch/checkpoint.ts';
import type { Commit } from '../../../places/export/export-facts.ts';
import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';
import type { FileStore } from '../../../places/files/file-store.ts';
import { readJournals } from '../../../places/scratch/journal-entries.ts';
import { type Manifest, readManifest, requireManifest, writeManifest } from '../../../places/export/manifest.ts';
import { publishFiles } from '../../../places/scratch/part-file.ts';
import { keepRunLines } from '../record/run-record.ts';
import { spentIn } from '../../../places/export/spent.ts';
import { requireSame } from '../job-shape.ts';
import { hasBegun, requireExportFolder } from '../../../places/export/require-export-folder.ts';
import { awaitsRepair, clearRun, isThrowingAway, partFiles, throwAway } from '../throw-away.ts';
import type { ExportHome, HeldSlice, OpenExport } from './export-home.ts';
import { openScratch, Openings, type OpenScratch } from './open-scratch.ts';

/** An export in a local folder: one slice, whose log is the checkpoint. */
export function folderHome(files: FileStore, folder: string): ExportHome {
  const write = async (manifest: Omit<Manifest, 'version'>): Promise<Manifest> => {
    await writeManifest(files, folder, manifest);
    return requireManifest(files, folder);
  };
  return {
    name: folder,
    place: { files, folder },
    scratch: folder,
    asked: () => folderHome(files, pathIn(folder, exportPaths.asked)),
    requireOwn: () => requireExportFolder(files, folder),
    readIdle: async () => {
      const isIdle = (await files.list(pathIn(folder, exportPaths.run))).length === 0;
      return isIdle ? readManifest(files, folder) : undefined;
    },
    readManifest: () => readManifest(files, folder),
    readProgress: async () => {
      const checkpoint = await readCheckpoint(files, folder);
      if (checkpoint === undefined) return undefined;
      return { ...checkpoint, spent: await spentIn(files, folder) };
    },
    readAnswers: () => readJournals(files, [folder]),
    syncManifest: () => files.syncFolder(folder),
    putManifest: write,
    replaceManifest: write,
    isThrowingAway: () => isThrowingAway(files, folder),
    throwAway: (what) => throwAway({ files, folder, ...what }),
    open: (start, entries) => openWholeFolder({ files, folder, start, entries }),
    clear: async (outcome, lock) => {
      const isOver = outcome === 'refused' ? !(await hasBegun(files, folder)) : outcome === 'complete';
      if (!isOver || (outcome === 'complete' && (await awaitsRepair(files, folder)))) return;
      await keepRunLines(files, folder);
      await clearRun(files, folder);
      await lock.remove();
    },
  };
}

interface WholeFolder {
  readonly files: FileStore;
  readonly folder: string;
  readonly start: ExportStart;
  readonly entries: () => AsyncIterable<Entries>;
}

async function openWholeFolder(whole: WholeFolder): Promise<OpenExport> {
  const { files, folder, start } = whole;
  const open = new Openings();
  try {
    if ((await readCheckpoint(files, folder)) === undefined) await requireNoParts(files, folder);
    const checkpoint = open.add(await openCheckpoint(files, folder, start));
    requireSame(folder, checkpoint.start, start);
    await requireParts(files, folder, checkpoint.commits);
    const scratch = open.add(await openScratch(files, folder, (part) => part < checkpoint.commits.length));
    const waiting = [sliceOf(whole, checkpoint, scratch)];
    return {
      start: checkpoint.start,
      answers: scratch.answers,
      slices: { next: async () => waiting.pop() },
      commits: () => checkpoint.commits,
      spent: () => ({ calls: scratch.calls.total(), credits: scratch.credits.total() }),
      close: () => open.close(),
    };
  } catch (error) {
    await open.close().catch(() => undefined);
    throw error;
  }
}

function sliceOf({ files, folder, entries }: WholeFolder, checkpoint: Checkpoint, scratch: OpenScratch): HeldSlice {
  const committed = checkpoint.commits.length;
  const { journal, calls, credits } = scratch;
  return {
    scratch: folder,
    journal,
    calls,
    credits,
    entries,
    firstPart: 0,
    isNeeded: (part) => part >= committed,
    commit: async (commit) => {
      const names = commit.files.map(({ path }) => path);
      await publishFiles(files, folder, names);
      await checkpoint.append(commit);
      await files.remove(pathIn(folder, exportPaths.journal(commit.part)));
      return 'committed';
    },
    // The checkpoint has said it all.
    end: () => Promise.resolve(),
  };
}

/** An export begins before its first part: parts without a checkpoint are those of one that lost it. */
async function requireNoParts(files: FileStore, folder: string): Promise<void> {
  const [part] = await partFiles(files, folder);
  if (part === undefined) return;
  const path = pathIn(folder, exportPaths.checkpoint);
  throw new ExportError(
    'damaged',
    `${path} is missing or empty, but ${part} exists: the progress of the export is lost`,
    {
      todo: 'Restore the folder from a copy, or start over with --fresh. It deletes these files and pays for all calls again.',
    },
  );
}

/** Committed files are not made again: one that is gone or cut would be found missing only at the end. */
async function requireParts(files: FileStore, folder: string, commits: readonly Commit[]): Promise<void> {
  for (const { path, bytes } of commits.flatMap((commit) => commit.files)) {
    const size = await files.sizeOf(pathIn(folder, path));
    if (size === bytes) continue;
    const now = size === undefined ? 'it is missing' : size === 'folder' ? 'it is a folder' : `it has ${size} now`;
    throw new ExportError('damaged', `${pathIn(folder, path)} is damaged: ${bytes} bytes were committed, but ${now}`, {
      todo: 'Restore it from a copy, or start over with --fresh.',
    });
  }
}
