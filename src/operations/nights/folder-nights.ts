import { dirname, join } from 'node:path';
import { exportPaths, pathIn } from '../../store/export-folder.ts';
import type { FileStore } from '../../store/file-store.ts';
import type { NightsPlace } from './prune-exports.ts';
import { pruneMark, removedPrefix, surveyNights } from './survey-nights.ts';

/**
 * Exports in a local folder. To remove one, its manifest goes first, then the folder gets another name, then its files go. Wherever this is interrupted,
 * no reader finds half an export.
 */
export function folderNights(files: FileStore, top: string): NightsPlace {
  return { survey: () => surveyNights(files, top), remove: (name) => removeNight(files, top, name) };
}

async function removeNight(files: FileStore, top: string, name: string): Promise<void> {
  const folder = join(top, name);
  const hidden = join(top, name.startsWith(removedPrefix) ? name : removedPrefix + name.replaceAll('/', '--'));
  if (hidden !== folder) await hide(files, folder, hidden);
  await removeWhole(files, hidden);
  await files.syncFolder(top);
  for (let parent = dirname(folder); parent !== top; parent = dirname(parent)) {
    if ((await files.list(parent)).length > 0) break;
    await files.remove(parent);
  }
}

async function hide(files: FileStore, folder: string, hidden: string): Promise<void> {
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

async function mark(files: FileStore, folder: string): Promise<void> {
  const file = await files.open(pathIn(folder, exportPaths.throwingAway), 'create');
  try {
    await file.write(pruneMark);
    await file.sync();
  } finally {
    await file.close();
  }
  await files.syncFolder(pathIn(folder, exportPaths.run));
}

async function removeWhole(files: FileStore, folder: string): Promise<void> {
  if ((await files.sizeOf(folder)) !== undefined) await files.remove(folder);
}
