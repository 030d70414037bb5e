import { randomUUID } from 'node:crypto';
import { changesTable } from '../../core/records/columns.ts';
import { manifestCommits, manifestOf } from '../../core/run/complete-export.ts';
import { readProgress } from '../../core/run/homes/home-progress.ts';
import { homeAt } from '../../core/run/homes/open-home.ts';
import type { HomePlace } from '../../core/run/homes/home-place.ts';
import { type HomeStart, startBody } from '../../core/run/homes/home-start.ts';
import {
  contentSeal,
  begunOf,
  type Manifest,
  type NewManifest,
  requireManifest,
} from '../../places/export/manifest.ts';
import type { Commit, Spent } from '../../places/export/export-facts.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { SliceLog, sliceNames } from '../../places/log/slice-log.ts';
import { namesOf } from '../../places/objects/object-store.ts';
import type { DamagedExport } from './rebuild-files.ts';

/** What a repair makes again. It is fixed until its parts are made, so that no answer is paid for twice. */
export type Repairs = NonNullable<HomeStart['repairs']>;

/** A repair that was begun and is not finished. */
export interface UnfinishedRepair extends Repairs {
  /** Those of its parts that are made. */
  readonly made: readonly Commit[];
  /** Calls and credits of the export with those of the repair. */
  readonly spent: Spent;
}

/** The repair of an export that was stopped; undefined where none was, or where it is of another export. */
export async function readRepair(within: HomePlace, manifest: Manifest): Promise<UnfinishedRepair | undefined> {
  const progress = await readProgress(within);
  const repairs = progress?.start.repairs;
  if (progress === undefined || repairs?.seal !== contentSeal(manifest)) return undefined;
  return {
    ...repairs,
    made: progress.commits.filter(({ part }) => repairs.parts.includes(part)),
    spent: progress.spent,
  };
}

/** Writes the manifest back as the log of an unfinished export: one without the parts that are made again. */
export async function beginRepair(
  { files, store, address, scratch, shared }: HomePlace,
  manifest: Manifest,
  { repairs, spent }: { readonly repairs: Repairs; readonly spent: Spent },
): Promise<void> {
  // Of an earlier repair.
  await store.remove(await namesOf(store, `${exportPaths.run}/`));
  for (const folder of (await shared?.sliceFolders({ files, scratch })) ?? []) await files.remove(folder);
  const { job, inputs } = manifest;
  const log = new SliceLog(store, 0);
  const commits = manifestCommits(manifest).filter(({ part }) => !repairs.parts.includes(part));
  const claimed = { nonce: randomUUID(), spent: { manifest: { calls: spent.calls, credits: spent.credits } } };
  await log.append({ kind: 'claim', ...claimed, scratch: address, commits });
  await log.append({ kind: 'release', ...claimed, answered: 0 });
  // Without it there is no repair, and nothing was paid for yet.
  await store.putNew(sliceNames.start, startBody({ job, inputs, ...begunOf(manifest), repairs }));
}

/** Writes the manifest with the parts as they are now. What it says of the base was true of the first making. */
export async function endRepair(
  place: HomePlace,
  { finished: { manifest }, job }: Pick<DamagedExport, 'finished' | 'job'>,
  { made, spent: { calls, credits } }: UnfinishedRepair,
  version = manifest.program.version,
): Promise<void> {
  const { job: shape, inputs, base, rebuilt, setAside } = manifest;
  const commits = manifestCommits(manifest);
  for (const { refresh: _, ...commit } of made) {
    const { refresh } = commits[commit.part] ?? {};
    commits[commit.part] = { ...commit, inputBytes: 0, ...(refresh === undefined ? {} : { refresh }) };
  }
  const start = { job: shape, inputs, ...begunOf(manifest) };
  await dropChanges(place, manifestOf({ job, start, commits, calls, credits, version, base, rebuilt, setAside }));
}

/** Writes a manifest without the table `changes`: its rows are made of two exports, and only a whole one is of use. */
export async function dropChanges(place: HomePlace, manifest: NewManifest): Promise<void> {
  const { [changesTable.name]: _, ...tables } = manifest.tables;
  const files = manifest.files.filter(({ table }) => table !== changesTable.name);
  await homeAt(place).replaceManifest({ ...manifest, tables, files });
}

/**
 * Removes files of `changes` that the manifest does not name any more; a repair before this one may have been stopped before it did.
 * Resolves to their names.
 */
export async function removeDropped(place: HomePlace, folder: string): Promise<Set<string>> {
  const { tables, job } = await requireManifest(homeAt(place).place.files, folder);
  const { 'output.tables': names, 'output.formats': formats } = job;
  const dropped = new Set<string>();
  if (tables[changesTable.name] !== undefined || !Array.isArray(names) || !names.includes(changesTable.name))
    return dropped;
  for (const format of Array.isArray(formats) ? formats : []) {
    for (const name of await namesOf(place.store, `${String(format)}/${changesTable.name}/`)) dropped.add(name);
  }
  await place.store.remove([...dropped]);
  return dropped;
}

/** Removes what a complete export needs no more; in a folder all of `.run` but the lock and its socket. */
export async function clearRepair(place: HomePlace, within: HomePlace): Promise<void> {
  const { files, scratch, shared } = place;
  if (shared !== undefined) await within.store.remove(await namesOf(within.store, `${exportPaths.run}/`));
  await files.remove(within.scratch);
  for (const name of await files.list(pathIn(scratch, exportPaths.run))) {
    const path = `${exportPaths.run}/${name}`;
    if (path !== exportPaths.lock && !path.startsWith(exportPaths.lockSocket('')))
      await files.remove(pathIn(scratch, path));
  }
}
