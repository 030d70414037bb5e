import { dirname, join, relative } from 'node:path';
import { foldersBelowDate } from '../../core/job/night-names.ts';
import { ExportError } from '../../lib/export-error.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { Disk, Reads } from '../../places/files/disk.ts';
import { lockOwner } from '../../places/files/lock.ts';
import { latestInFolder } from './point-latest.ts';
import type { NightsPlace } from './prune-exports.ts';
import {
  hiddenName,
  noFolder,
  type NightsSurvey,
  pruneMark,
  removedPrefix,
  type SeenNight,
  surveyOf,
} from './survey-nights.ts';

/**
 * Exports in a local folder. To remove one, its manifest goes first, then the folder gets another name, then its files go. Wherever this is interrupted,
 * no reader finds half an export.
 */
export function folderNights(files: Disk, top: string): NightsPlace {
  return { survey: () => surveyFolder(files, top), remove: (name) => removeNight(files, top, name) };
}

/** @throws {ExportError} `usage` where the folder is an export itself, or is not there */
async function surveyFolder(files: Reads, top: string): Promise<NightsSurvey> {
  await requireFolder(files, top);
  const found = await surveyOf(seenNights(files, top));
  return { ...found, latest: await latestInFolder(files, top) };
}

async function* seenNights(files: Reads, top: string): AsyncGenerator<SeenNight, void, void> {
  for (const folder of await nightFolders(files, top)) {
    yield {
      name: relative(top, folder),
      own: await filesIn(files, folder),
      read: async (name) => {
        const path = pathIn(folder, name);
        const bytes = await files.readAll(path);
        if (bytes === undefined) throw new ExportError('damaged', `${path} disappeared while it was looked at`);
        return bytes;
      },
      isHeld: async () => (await lockOwner(folder)) !== undefined,
    };
  }
}

/** The files in a folder and in those below it, relative to it. */
async function filesIn(files: Reads, folder: string, within = ''): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await files.list(pathIn(folder, within))) {
    const name = within === '' ? entry : `${within}/${entry}`;
    const size = await files.sizeOf(pathIn(folder, name));
    if (size === 'folder') found.push(...(await filesIn(files, folder, name)));
    else if (size !== undefined) found.push(name);
  }
  return found;
}

async function requireFolder(files: Reads, top: string): Promise<void> {
  const names = await files.list(top);
  if (names.includes(exportPaths.manifest) || names.includes(exportPaths.run)) throw noFolder(top, 'an export');
  if ((await files.sizeOf(top)) !== 'folder') throw noFolder(top, 'not a folder');
}

/** The folders below one that hold exports, or what is left of them. Links are not followed. */
async function nightFolders(files: Reads, top: string, depth = foldersBelowDate): Promise<string[]> {
  const found: string[] = [];
  for (const name of await files.list(top)) {
    const folder = join(top, name);
    if ((await files.readLink(folder)) !== undefined || (await files.sizeOf(folder)) !== 'folder') continue;
    const within = await files.list(folder);
    const isExport = within.includes(exportPaths.manifest) || within.includes(exportPaths.run);
    if (isExport || name.startsWith(removedPrefix)) found.push(folder);
    else if (depth > 1) found.push(...(await nightFolders(files, folder, depth - 1)));
  }
  return found;
}

async function removeNight(files: Disk, top: string, name: string): Promise<void> {
  const folder = join(top, name);
  const hidden = join(top, hiddenName(name));
  if (hidden !== folder) await hide(files, folder, hidden);
  await removeWhole(files, hidden);
  await files.syncFolder(top);
  for (let parent = dirname(folder); parent !== top; parent = dirname(parent)) {
    if ((await files.list(parent)).length > 0) break;
    await files.remove(parent);
  }
}

async function hide(files: Disk, folder: string, hidden: string): Promise<void> {
  await files.makeFolder(pathIn(folder, exportPaths.run));
  const lock = await files.takeLock(folder);
  try {
    await mark(files, folder);
    await files.remove(pathIn(folder, exportPaths.manifest));
    await files.syncFolder(folder);
    await removeWhole(files, hidden);
    await files.rename(folder, hidden);
    await files.syncFolder(dirname(folder));
    await files.syncFolder(dirname(hidden));
  } finally {
    await lock.release();
  }
}

async function mark(files: Disk, folder: string): Promise<void> {
  const file = await files.open(pathIn(folder, exportPaths.throwingAway), 'create');
  try {
    await file.write(pruneMark);
    await file.sync();
  } finally {
    await file.close();
  }
  await files.syncFolder(pathIn(folder, exportPaths.run));
}

async function removeWhole(files: Disk, folder: string): Promise<void> {
  if ((await files.sizeOf(folder)) !== undefined) await files.remove(folder);
}
