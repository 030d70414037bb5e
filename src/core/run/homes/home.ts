import { ExportError } from '../../../lib/export-error.ts';
import { exportPaths, pathIn, requireExportFolder } from '../../../places/export/export-folder.ts';
import { readJournals } from '../../../places/scratch/journal.ts';
import { type Manifest, type NewManifest, manifestBytes } from '../../../places/export/manifest.ts';
import { partsWithDamage, withdrawCommits } from '../../../places/log/slice-log.ts';
import { plural } from '../../../lib/format-text.ts';
import { namesOf, storeWithin } from '../../../places/objects/object-store.ts';
import { inputWithin } from '../../ids/id-input.ts';
import { keepRunLines } from '../history/run-history.ts';
import { noteOfRepair, repairPlace } from './repair-place.ts';
import type { HomePlace } from './home-place.ts';
import { readManifestAt, readProgress } from './home-progress.ts';
import { isPartFile } from '../complete-export.ts';
import type { ExportHome, ToThrowAway } from './export-home.ts';

/** An export in a folder or a bucket: slices with a log each. Unfinished files and kept answers lie in the scratch folder. */
export function homeAt(place: HomePlace): ExportHome {
  const { files, store, address, scratch, others } = place;
  return {
    name: address,
    place: others === undefined ? { files, disk: files, folder: address, store } : others.inBucket(store, address),
    scratch,
    asked: () => homeAt(askedPlace(place)),
    requireOwn: () => requireExportFolder(store, address),
    readIdle: async () => {
      const isIdle = (await files.list(pathIn(scratch, exportPaths.run))).length === 0;
      return isIdle ? readManifestAt(place) : undefined;
    },
    readManifest: () => readManifestAt(place),
    readProgress: () => readProgress(place),
    readAnswers: async () => readJournals(files, others === undefined ? [scratch] : await others.sliceFolders(place)),
    syncManifest: async () => {
      if (others === undefined) await files.syncFolder(address);
    },
    putManifest: (manifest, onPut) => putManifest(place, manifest, onPut),
    replaceManifest: (manifest) => replaceManifest(place, manifest),
    isThrowingAway: async () =>
      (await isThere(place, exportPaths.throwingAway)) && !(await isThere(place, exportPaths.manifest)),
    throwAway: (what) => throwAway(place, what),
    open: async (start, entries) => (await import('./open-slices.ts')).openExport(place, start, entries),
    clear: async (outcome, lock, warn) => {
      if (outcome === 'unfinished' || (outcome === 'refused' && (await hasBegun(place))))
        return others?.putHistory(place);
      if (outcome !== 'complete') await clearScratch(place);
      else {
        const repair = await noteOfRepair({ store, folder: address });
        if (repair !== undefined) {
          warn?.(repair);
          return;
        }
        await clearComplete(place, warn);
      }
      await lock.remove();
    },
  };
}

/** Its files and its scratch folder lie in those of the export: they are removed with them. */
function askedPlace(place: HomePlace): HomePlace {
  const { store, address, scratch } = place;
  const within = exportPaths.asked;
  return {
    ...place,
    store: storeWithin(store, within),
    address: pathIn(address, within),
    scratch: pathIn(scratch, within),
  };
}

async function isThere({ store }: Pick<HomePlace, 'store'>, name: string): Promise<boolean> {
  return (await store.look(name)) !== undefined;
}

/** Files and folders that a later run needs. */
const leftByRuns = [exportPaths.start, exportPaths.throwingAway, exportPaths.callCount, `${exportPaths.journals}/`];

/** Whether an export has left something of itself that a later run needs. */
export async function hasBegun({ store }: Pick<HomePlace, 'store'>): Promise<boolean> {
  for await (const name of store.names(`${exportPaths.run}/`))
    if (leftByRuns.some((left) => left === `${exportPaths.run}/${name}`)) return true;
  return false;
}

/** Files are looked at only here: a commit is trusted until the manifest names it for good. */
async function putManifest(
  place: HomePlace,
  manifest: NewManifest,
  onPut: (() => void) | undefined,
): Promise<Manifest> {
  const { store, address } = place;
  const damaged = await partsWithDamage(place, manifest.files);
  for (const damage of damaged.values()) {
    const withdrawn = await withdrawCommits(place, damaged);
    const again = `Run the same command again: it makes ${plural(withdrawn, 'part')} again, and pays for their calls.`;
    const restore = 'Restore that version of the file, or start over with --fresh.';
    throw new ExportError('damaged', pathIn(address, damage), {
      ...(withdrawn > 0 ? { todo: again, again: 'now' } : { todo: restore }),
    });
  }
  if ((await store.putNew(exportPaths.manifest, { bytes: manifestBytes(manifest) })) === 'put') onPut?.();
  return requireManifestAt(place);
}

async function requireManifestAt(place: HomePlace): Promise<Manifest> {
  const written = await readManifestAt(place);
  if (written !== undefined) return written;
  throw new ExportError('cannotWrite', `the manifest of ${place.address} disappeared after it was written`);
}

async function replaceManifest(place: HomePlace, manifest: NewManifest): Promise<Manifest> {
  const { store } = place;
  const name = exportPaths.manifest;
  const found = await store.look(name);
  if (found !== undefined) await store.replace(name, { bytes: manifestBytes(manifest) }, found.tag);
  return requireManifestAt(place);
}

/** What stays below `.run` when an export is thrown away: the run that does it has it open, or needs it after. */
const staysBelowRun = [
  exportPaths.lock,
  exportPaths.stdin,
  exportPaths.idCopies,
  exportPaths.runLines,
  exportPaths.embedded,
  exportPaths.ledgers,
  exportPaths.throwingAway,
];

/**
 * Removes the files of an export, and no others. A mark tells a later run that this was interrupted, so that it does not resume an export
 * of which half is gone. The manifest goes first and the mark last.
 * @throws {ExportError} `usage` when an input is a part of the export, `locked`
 */
async function throwAway(place: HomePlace, { inputs, stop }: ToThrowAway): Promise<void> {
  const { store, address, others } = place;
  for (const held of [place, askedPlace(place), repairPlace(place)]) await others?.requireNoHolder(held, stop);
  const names = await namesOf(store, '');
  const parts = names.filter(isPartFile);
  const own = await inputWithin(address, parts, inputs);
  if (own !== undefined) {
    throw new ExportError('usage', `${own.name} belongs to the export that --fresh would delete`, {
      todo: 'Copy the file elsewhere and read the ids from the copy, or choose another output folder.',
    });
  }
  const companions = names.filter((name) => exportPaths.companions.some((each) => each === name));
  const ofRuns = names.filter(
    (name) => name.startsWith(`${exportPaths.run}/`) && !staysBelowRun.some((kept) => name.startsWith(kept)),
  );
  await store.putNew(exportPaths.throwingAway, { bytes: Buffer.of() });
  try {
    for (const some of [[exportPaths.manifest], [...parts, ...companions], ofRuns, [exportPaths.throwingAway]])
      await store.remove(some);
  } catch (error) {
    if (!(error instanceof ExportError) || error.exit !== 'cannotWrite') throw error;
    throw new ExportError('cannotWrite', `--fresh cannot delete the export: ${error.message}`, {
      todo: 'Allow Delete there, or choose another output.',
      cause: error,
    });
  }
  if (others !== undefined) await clearScratch(place, [exportPaths.stdin]);
}

/** Removes what a complete export needs no more. Where nothing may be deleted, `.run/` stays: it does no harm beside a manifest. */
export async function clearComplete(place: HomePlace, warn?: (message: string) => void): Promise<void> {
  const { files, store, address, others } = place;
  if (others === undefined) await keepRunLines(files, address);
  else {
    // Two processes may complete the same export: the first one has all records.
    await store.putNew(exportPaths.keptRunLines, { bytes: await others.mergedHistory(place) });
    await store.remove(await namesOf(store, `${exportPaths.run}/`)).catch((error: unknown) => {
      if (!(error instanceof ExportError) || error.exit !== 'cannotWrite') throw error;
      warn?.(`${address}/${exportPaths.run}/ stays: Delete is not allowed there. The export is complete without it`);
    });
  }
  await clearScratch(place);
}

/** Removes what the slices left on the local disk, and all below `.run` there but the lock. */
async function clearScratch(place: HomePlace, except: readonly string[] = []): Promise<void> {
  const { files, scratch, others } = place;
  if (others !== undefined) {
    for (const folder of await others.sliceFolders(place)) await files.remove(folder);
    const workers = (await files.list(scratch)).filter((name) => name.startsWith('worker-'));
    for (const name of workers) await files.remove(pathIn(scratch, name));
  }
  for (const name of await files.list(pathIn(scratch, exportPaths.run))) {
    const path = `${exportPaths.run}/${name}`;
    if (path.startsWith(exportPaths.lock) || except.includes(path)) continue;
    await files.remove(pathIn(scratch, path));
  }
}
