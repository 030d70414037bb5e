import { ExportError } from '../../../lib/export-error.ts';
import { sliceNames } from '../../../places/log/slice-names.ts';
import { storeWithin } from '../../../places/objects/store-within.ts';
import { bucketFiles } from '../../../places/export/bucket-files.ts';
import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';
import { readJournals } from '../../../places/scratch/journal-entries.ts';
import { type Manifest, manifestBytes } from '../../../places/export/manifest.ts';
import { isPartFile } from '../throw-away.ts';
import { inTurns, namesOf } from '../../../places/objects/small-objects.ts';
import { mergedRecord, putRecord } from './bucket-record.ts';
import type { BucketPlace } from './bucket-place.ts';
import { readBucketManifest, readBucketProgress } from './bucket-progress.ts';
import { openBucketExport } from './bucket-slices.ts';
import type { ExportHome, ToThrowAway } from './export-home.ts';
import { requireNoHolder, sliceFolders } from './slice-holders.ts';

/** An export in a bucket: slices with a log each. Its unfinished files and kept answers lie in the scratch folder. */
export function bucketHome(place: BucketPlace): ExportHome {
  const { files, store, address, scratch } = place;
  return {
    name: address,
    place: { files: bucketFiles(store, address), folder: address, store },
    scratch,
    asked: () => bucketHome(askedPlace(place)),
    requireOwn: () => requireOwnPrefix(place),
    readIdle: async () => {
      const isIdle = (await files.list(pathIn(scratch, exportPaths.run))).length === 0;
      return isIdle ? readBucketManifest(place) : undefined;
    },
    readManifest: () => readBucketManifest(place),
    readProgress: () => readBucketProgress(place),
    readAnswers: async () => readJournals(files, await sliceFolders(place)),
    syncManifest: () => Promise.resolve(),
    putManifest: (manifest) => putManifest(place, manifest),
    replaceManifest: (manifest) => replaceManifest(place, manifest),
    isThrowingAway: async () =>
      (await store.look(sliceNames.throwingAway)) !== undefined &&
      (await store.look(exportPaths.manifest)) === undefined,
    throwAway: (what) => throwAwayBucket(place, what),
    open: (start, entries) => openBucketExport(place, start, entries),
    clear: async (outcome, lock, warn) => {
      if (outcome === 'unfinished' || (outcome === 'refused' && (await hasBegun(place)))) return putRecord(place);
      if (outcome === 'complete') await clearComplete(place, warn);
      else await clearScratch(place);
      await lock.remove();
    },
  };
}

/** Its objects and its scratch folder lie in those of the export: they are removed with them. */
function askedPlace(place: BucketPlace): BucketPlace {
  const { store, address, scratch } = place;
  const within = exportPaths.asked;
  return {
    ...place,
    store: storeWithin(store, within),
    address: pathIn(address, within),
    scratch: pathIn(scratch, within),
  };
}

/** @throws {ExportError} `usage` when other objects are under the prefix and no export */
async function requireOwnPrefix({ store, address }: BucketPlace): Promise<void> {
  if ((await store.look(exportPaths.manifest)) !== undefined) return;
  for await (const { name } of store.list('')) {
    if (name.startsWith(`${exportPaths.run}/`)) return;
    if (name.startsWith('.')) continue;
    // Another process may have completed the export since.
    if ((await store.look(exportPaths.manifest)) !== undefined) return;
    throw new ExportError('usage', `${address} is not an export and not empty: it contains ${name}`, {
      todo: 'Choose a new or empty prefix with --out or output.dir.',
    });
  }
}

/** Files are looked at only here: a commit is trusted until the manifest names it for good. */
async function putManifest(place: BucketPlace, manifest: Omit<Manifest, 'version'>): Promise<Manifest> {
  const { store, address } = place;
  await inTurns(manifest.files, async ({ path, bytes, sha256 }) => {
    const found = await store.look(path);
    if (found?.bytes === bytes && found.sha256 === sha256) return;
    const now = found === undefined ? 'is missing' : 'has other bytes';
    throw new ExportError('damaged', `${address}/${path} was committed, but ${now}`, {
      todo: 'Restore that version of the object, or start over with --fresh.',
    });
  });
  await store.putNew(exportPaths.manifest, { bytes: manifestBytes(manifest) });
  return requireBucketManifest(place);
}

async function requireBucketManifest(place: BucketPlace): Promise<Manifest> {
  const written = await readBucketManifest(place);
  if (written !== undefined) return written;
  throw new ExportError('cannotWrite', `the manifest of ${place.address} disappeared after it was written`);
}

async function replaceManifest(place: BucketPlace, manifest: Omit<Manifest, 'version'>): Promise<Manifest> {
  const { store } = place;
  const name = exportPaths.manifest;
  const found = await store.look(name);
  if (found !== undefined) await store.replace(name, { bytes: manifestBytes(manifest) }, found.tag);
  return requireBucketManifest(place);
}

async function hasBegun({ store }: BucketPlace): Promise<boolean> {
  return (await store.look(sliceNames.start)) !== undefined;
}

/** The manifest goes first and the mark last: a run that is interrupted in between is followed by one that continues. */
async function throwAwayBucket(place: BucketPlace, { sinks, stop }: ToThrowAway): Promise<void> {
  const { store } = place;
  for (const held of [place, askedPlace(place)]) await requireNoHolder(held, stop);
  await store.putNew(sliceNames.throwingAway, { bytes: Buffer.of() });
  const names = await namesOf(store, '');
  const own = names.filter((name) => isPartFile(name, sinks) || exportPaths.companions.some((each) => each === name));
  const kept = names.filter((name) => name.startsWith(`${exportPaths.run}/`) && name !== sliceNames.throwingAway);
  try {
    for (const some of [[exportPaths.manifest], own, kept, [sliceNames.throwingAway]]) await store.remove(some);
  } catch (error) {
    if (!(error instanceof ExportError) || error.exit !== 'cannotWrite') throw error;
    throw new ExportError('cannotWrite', `--fresh cannot delete the export: ${error.message}`, {
      todo: 'Allow Delete on the prefix, or choose another prefix.',
      cause: error,
    });
  }
  await clearScratch(place, [exportPaths.stdin]);
}

/** Removes what a complete export needs no more. Where nothing may be deleted, `.run/` stays: it does no harm beside a manifest. */
export async function clearComplete(place: BucketPlace, warn?: (message: string) => void): Promise<void> {
  const { store, address } = place;
  // Two processes may complete the same export: the first one has all records.
  await store.putNew(exportPaths.keptRunLines, { bytes: await mergedRecord(place) });
  await store.remove(await namesOf(store, `${exportPaths.run}/`)).catch((error: unknown) => {
    if (!(error instanceof ExportError) || error.exit !== 'cannotWrite') throw error;
    warn?.(`${address}/${exportPaths.run}/ stays: Delete is not allowed there. The export is complete without it`);
  });
  await clearScratch(place);
}

/** Removes what the slices left on the local disk. The lock stays. */
async function clearScratch({ files, scratch }: BucketPlace, except: readonly string[] = []): Promise<void> {
  for (const folder of await sliceFolders({ files, scratch })) await files.remove(folder);
  const workers = (await files.list(scratch)).filter((name) => name.startsWith('worker-'));
  for (const name of workers) await files.remove(pathIn(scratch, name));
  for (const name of await files.list(pathIn(scratch, exportPaths.run))) {
    const path = `${exportPaths.run}/${name}`;
    if (path.startsWith(exportPaths.lock) || except.includes(path)) continue;
    await files.remove(pathIn(scratch, path));
  }
}
