import { batchShape } from '../../ids/batch-ids.ts';
import type { Job } from '../../job/job-schema.ts';
import { isBucketAddress } from '../../../lib/addresses/address-kinds.ts';
import { type ObjectStore, namesOf, storeWithin } from '../../../places/objects/object-store.ts';
import type { ExportContext } from '../export-context.ts';
import { pathIn, exportPaths, requireExportFolder } from '../../../places/export/export-folder.ts';
import type { Commit } from '../../../places/export/export-facts.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { plural } from '../../../lib/format-text.ts';
import { askedIds } from '../history/run-figures.ts';
import { type ExportPlace, inFolder, localFolder } from './export-place.ts';
import type { HomePlace } from './home-place.ts';
import type { ExportHome, ToThrowAway } from './export-home.ts';
import { type FindRemote, namePattern, type RemoteFile, inputWithin } from '../../ids/id-input.ts';
import { readJournals } from '../../../places/scratch/journal.ts';
import { type Manifest, type NewManifest, manifestBytes, readManifestAt } from '../../../places/export/manifest.ts';
import { partsWithDamage, withdrawCommits } from '../../../places/log/slice-log.ts';
import { keepRunLines } from '../history/run-history.ts';
import { isPartFile } from '../complete-export.ts';
import { commandLine } from '../../../lib/addresses/shown-text.ts';

export interface HomeContext extends Pick<ExportContext, 'files' | 'clock' | 'random'> {
  readonly openStore?: ExportContext['openStore'] | undefined;
  readonly listener?: ExportContext['listener'] | undefined;
  readonly abort?: ExportContext['abort'] | undefined;
}

/** The home of a job's export. @throws {ExportError} `usage` for an address that is none, or a package that is not installed */
export async function openHome(job: Job, context: HomeContext): Promise<ExportHome> {
  return homeAt(await openHomePlace(job, context));
}

/** The place of a job's export. @throws {ExportError} `usage` */
export async function openHomePlace(job: Job, context: HomeContext): Promise<HomePlace> {
  const { files, clock, abort, listener } = context;
  const { dir, endpoint } = job.output;
  const { store } = await openPlace(dir, endpoint, context);
  const { entriesPerSlice, deadAfterSeconds } = job.fleet;
  const shape = { ...batchShape(job), entriesPerSlice };
  const shared = store.isShared ? await import('./shared-home.ts') : undefined;
  const onDamaged = (commit: Commit, damage: string): void => {
    const message = `${pathIn(dir, damage)}: ${remakingText(job, commit)}`;
    listener?.({ kind: 'warning', message });
  };
  const scratch = localFolder(job);
  return { files, store, clock, abort, address: dir, scratch, shape, deadAfterSeconds, onDamaged, shared };
}

function remakingText({ service, budget }: Job, { part, counts, cap = service.idsPerCall }: Commit): string {
  const calls = Math.ceil(askedIds(counts) / Math.min(cap, service.idsPerCall));
  const price = plural(calls * budget.creditsPerCall, 'credit');
  return `part ${part} is made again (about ${plural(calls, 'call')}, ${price})`;
}

/** What lies at an address, in a folder or a bucket. @throws {ExportError} `usage` */
export async function openPlace(
  address: string,
  endpoint: string | undefined,
  context: HomeContext,
): Promise<ExportPlace> {
  if (!isBucketAddress(address)) return inFolder(context.files, address);
  const { inBucket } = await import('./shared-home.ts');
  return inBucket(await openStoreAt(address, endpoint, context), address);
}

/** The store at the address of a bucket. @throws {ExportError} `usage` */
export async function openStoreAt(
  address: string,
  endpoint: string | undefined,
  { clock, random, openStore, listener, abort }: Omit<HomeContext, 'files'>,
): Promise<ObjectStore> {
  const open = openStore ?? (await import('../../../places/objects/open-objects.ts')).openObjects;
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  // Operations that run at once meet the same trouble.
  const onTrouble = (message: string): void => {
    if (clock.monotonic() < quietUntilMs) return;
    quietUntilMs = clock.monotonic() + 60_000;
    listener?.({ kind: 'warning', message });
  };
  return open({ address, endpoint, clock, random, abort, onTrouble });
}

/** Finds ids in buckets. The endpoint of the output is that of ids in an S3-compatible store too. */
export function bucketIds({ output }: Pick<Job, 'output'>, context: Omit<HomeContext, 'files'>): FindRemote {
  return async (address) => {
    const fixed = address.split('*', 1)[0] ?? '';
    // The store is that of the folder around all names that can match.
    const top = fixed.slice(0, fixed.lastIndexOf('/'));
    if (!/^\w+:\/\/[^/]/.test(top)) return [];
    const endpoint = address.startsWith('s3://') ? output.endpoint : undefined;
    const store = await openStoreAt(top, endpoint, context);
    const pattern = namePattern(address.slice(top.length + 1));
    const files: RemoteFile[] = [];
    for await (const { name, bytes } of store.list(fixed.slice(top.length + 1))) {
      if (!pattern.test(name) || name.endsWith('/')) continue;
      const found = `${top}/${name}`;
      files.push({ address: found, bytes, read: () => readIds(store.read(name), found) });
    }
    return files.sort((a, b) => (a.address < b.address ? -1 : 1));
  };
}

/** To a store an object that vanishes or changes while it is read is damaged; a list of ids is an input. */
async function* readIds(blocks: AsyncIterable<Uint8Array>, address: string): AsyncGenerator<Uint8Array> {
  try {
    yield* blocks;
  } catch (error) {
    if (!(error instanceof ExportError) || error.exit !== 'damaged') throw error;
    throw new ExportError('input', error.message, {
      todo: `Put ${address} back as it was, or start over with --fresh.`,
      cause: error,
    });
  }
}

/** An export in a folder or a bucket: slices with a log each. Unfinished files and kept answers lie in the scratch folder. */
export function homeAt(place: HomePlace): ExportHome {
  const { files, store, address, scratch, shared } = place;
  return {
    name: address,
    place: shared === undefined ? inFolder(files, address, store) : shared.inBucket(store, address),
    scratch,
    asked: () => homeAt(askedPlace(place)),
    requireOwn: () => requireExportFolder(store, address),
    readIdle: async () => {
      const isIdle = (await files.list(pathIn(scratch, exportPaths.run))).length === 0;
      return isIdle ? readManifestAt(place) : undefined;
    },
    readManifest: () => readManifestAt(place),
    readProgress: async () => (await import('./home-progress.ts')).readProgress(place),
    readAnswers: async () => readJournals(files, shared === undefined ? [scratch] : await shared.sliceFolders(place)),
    syncManifest: async () => {
      if (shared === undefined) await files.syncFolder(address);
    },
    putManifest: (manifest, onPut) => putManifest(place, manifest, onPut),
    replaceManifest: (manifest) => replaceManifest(place, manifest),
    isThrowingAway: async () =>
      (await isThere(place, exportPaths.throwingAway)) && !(await isThere(place, exportPaths.manifest)),
    throwAway: (what) => throwAway(place, what),
    open: async (start, entries) => (await import('./open-slices.ts')).openExport(place, start, entries),
    clear: async (outcome, lock, warn) => {
      if (outcome === 'unfinished' || (outcome === 'refused' && (await hasBegun(place))))
        return shared?.putHistory(place);
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
  const { store, address, shared } = place;
  for (const held of [place, askedPlace(place), repairPlace(place)]) await shared?.requireNoHolder(held, stop);
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
  if (shared !== undefined) await clearScratch(place, [exportPaths.stdin]);
}

/** Removes what a complete export needs no more. Where nothing may be deleted, `.run/` stays: it does no harm beside a manifest. */
export async function clearComplete(place: HomePlace, warn?: (message: string) => void): Promise<void> {
  const { files, store, address, shared } = place;
  if (shared === undefined) await keepRunLines(files, address);
  else {
    // Two processes may complete the same export: the first one has all records.
    await store.putNew(exportPaths.keptRunLines, { bytes: await shared.mergedHistory(place) });
    await store.remove(await namesOf(store, `${exportPaths.run}/`)).catch((error: unknown) => {
      if (!(error instanceof ExportError) || error.exit !== 'cannotWrite') throw error;
      warn?.(`${address}/${exportPaths.run}/ stays: Delete is not allowed there. The export is complete without it`);
    });
  }
  await clearScratch(place);
}

/** Removes what the slices left on the local disk, and all below `.run` there but the lock. */
async function clearScratch(place: HomePlace, except: readonly string[] = []): Promise<void> {
  const { files, scratch, shared } = place;
  if (shared !== undefined) {
    for (const folder of await shared.sliceFolders(place)) await files.remove(folder);
    const workers = (await files.list(scratch)).filter((name) => name.startsWith('worker-'));
    for (const name of workers) await files.remove(pathIn(scratch, name));
  }
  for (const name of await files.list(pathIn(scratch, exportPaths.run))) {
    const path = `${exportPaths.run}/${name}`;
    if (path.startsWith(exportPaths.lock) || except.includes(path)) continue;
    await files.remove(pathIn(scratch, path));
  }
}

/**
 * Where parts of a complete export are made again: they go into the export, and all that an unfinished export keeps beside them lies below
 * `.run/repair`, so the manifest and what a run left below `.run` stay.
 */
export function repairPlace(place: HomePlace): HomePlace {
  const { store, address, scratch, shared } = place;
  return {
    ...place,
    store: partsAndRest(store, storeWithin(store, exportPaths.repair)),
    address: pathIn(address, exportPaths.repair),
    scratch: pathIn(scratch, shared === undefined ? exportPaths.repair : 'repair'),
    isWhole: true,
    onDamaged: undefined,
  };
}

/** Parts in one store, and everything else of an export in another. */
function partsAndRest(parts: ObjectStore, rest: ObjectStore): ObjectStore {
  const isRest = (name: string): boolean => name.startsWith(`${exportPaths.run}/`) || name === exportPaths.manifest;
  const of = (name: string): ObjectStore => (isRest(name) ? rest : parts);
  return {
    isShared: parts.isShared,
    putNew: (name, body) => of(name).putNew(name, body),
    putAll: (bodies) => parts.putAll(bodies),
    replace: (name, body, tag) => of(name).replace(name, body, tag),
    put: (name, body) => of(name).put(name, body),
    look: (name) => of(name).look(name),
    read: (name, range) => of(name).read(name, range),
    list: (prefix) => of(prefix).list(prefix),
    names: (folder) => of(folder).names(folder),
    remove: async (names) => {
      await rest.remove(names.filter(isRest));
      await parts.remove(names.filter((name) => !isRest(name)));
    },
  };
}

/** What is said of a complete export whose repair was stopped; undefined of any other. */
export async function noteOfRepair({
  store,
  folder,
}: Pick<ExportPlace, 'store' | 'folder'>): Promise<string | undefined> {
  if ((await store.look(exportPaths.repairStart)) === undefined) return undefined;
  return `${folder} has an unfinished repair. Resume it: ${commandLine('verify', folder, '--repair')} --job <job.yaml> --yes`;
}
