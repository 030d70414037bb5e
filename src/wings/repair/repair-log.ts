import { randomUUID } from 'node:crypto';
import { copyFiles } from '../../exports/copy-export.ts';
import type { FinishedExport } from '../../exports/finished-export.ts';
import { sumOfRefresh } from '../../core/work/batch-origins.ts';
import { manifestCommits, manifestOf } from '../../core/run/complete-export.ts';
import { readProgress } from '../../core/run/homes/home-progress.ts';
import { homeAt } from '../../core/run/homes/home.ts';
import type { HomePlace } from '../../core/run/homes/home-place.ts';
import { type HomeStart, startBody } from '../../core/run/homes/home-start.ts';
import { contentSeal } from '../../places/export/content-seal.ts';
import { type Commit, type Spent, sumOfSpent } from '../../places/export/export-facts.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { begunOf, type Manifest } from '../../places/export/manifest.ts';
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
  const made = progress.commits.filter(({ part }) => repairs.parts.includes(part));
  const asked = homeAt(within).asked();
  const spent = (await asked.readManifest()) ?? (await asked.readProgress())?.spent ?? { calls: 0, credits: 0 };
  return { ...repairs, made, spent: sumOfSpent(progress.spent, spent) };
}

/** Writes the manifest back as the log of an unfinished export: one without the parts that are made again. */
export async function beginRepair(
  within: HomePlace,
  finished: FinishedExport,
  { repairs, spent }: { readonly repairs: Repairs; readonly spent: Spent },
): Promise<void> {
  const { store, address } = within;
  const { manifest } = finished;
  await dropAnswers(within);
  if (repairs.changes !== undefined) await keepFile(within, finished, repairs.changes);
  const { job, inputs } = manifest;
  const log = new SliceLog(store, 0);
  const commits = manifestCommits(manifest).filter(({ part }) => !repairs.parts.includes(part));
  const claimed = { nonce: randomUUID(), spent: { manifest: { calls: spent.calls, credits: spent.credits } } };
  await log.append({ kind: 'claim', ...claimed, scratch: address, commits });
  await log.append({ kind: 'release', ...claimed, answered: 0 });
  // Without it there is no repair, and nothing was paid for yet.
  await store.putNew(sliceNames.start, startBody({ job, inputs, ...begunOf(manifest), repairs }));
}

/** Removes what an earlier repair requested. */
async function dropAnswers({ files, store, scratch, others }: HomePlace): Promise<void> {
  const names = await namesOf(store, `${exportPaths.run}/`);
  await store.remove(names.filter((name) => name !== exportPaths.askedIds));
  if (others === undefined) return;
  for (const folder of [...(await others.sliceFolders({ files, scratch })), pathIn(scratch, exportPaths.asked)])
    await files.remove(folder);
}

/** Keeps a copy of a file that the repair replaces, where any machine can resume it. */
async function keepFile(
  { files, store, scratch }: HomePlace,
  { folder, files: from, manifest }: FinishedExport,
  path: string,
): Promise<void> {
  const target = pathIn(scratch, exportPaths.unfinished);
  await copyFiles({ from, folder, to: files, target }, [path]);
  const copy = pathIn(target, path);
  const file = await files.open(copy, 'update');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  const { bytes = 0, sha256 = '' } = manifest.files.find((each) => each.path === path) ?? {};
  await store.put(`${exportPaths.kept}/${path}`, { file: copy, bytes, sha256 });
}

/** Writes the manifest with the parts as they are now. */
export async function endRepair(
  place: HomePlace,
  { finished: { manifest }, job }: Pick<DamagedExport, 'finished' | 'job'>,
  { parts, made, withBase, spent: { calls, credits } }: UnfinishedRepair,
  version = manifest.program.version,
): Promise<void> {
  const { job: shape, inputs, base, rebuilt, setAside } = manifest;
  const commits = manifestCommits(manifest);
  /** What the manifest says of the base was true of their first making. */
  const without = new Set([...(base?.withoutBase ?? []), ...(base === undefined || withBase ? [] : parts)]);
  for (const commit of made) {
    const { refresh } = commits[commit.part] ?? {};
    commits[commit.part] = { ...commit, inputBytes: 0, ...(without.has(commit.part) ? { refresh } : {}) };
  }
  const account = base && repairedAccount(base, commits, without);
  const start = { job: shape, inputs, ...begunOf(manifest) };
  const written = { job, start, commits, calls, credits, version, base: account, rebuilt, setAside };
  await homeAt(place).replaceManifest(manifestOf(written));
}

/** What the manifest says of the base, with the parts as they are now. What was chosen stays. */
function repairedAccount(
  account: NonNullable<Manifest['base']>,
  commits: readonly Commit[],
  without: ReadonlySet<number>,
): Manifest['base'] {
  const sums = sumOfRefresh(commits.map(({ refresh }) => refresh));
  return {
    ...account,
    lost: sums.lost,
    classes: account.classes.map((each, at) => ({ ...each, changed: sums.changed[at] ?? 0 })),
    withoutBase: without.size === 0 ? undefined : [...without].sort((a, b) => a - b),
  };
}

/** Removes what a complete export needs no more; in a folder all of `.run` but the lock and its socket. */
export async function clearRepair(place: HomePlace, within: HomePlace): Promise<void> {
  const { files, scratch, others } = place;
  if (others !== undefined) await within.store.remove(await namesOf(within.store, `${exportPaths.run}/`));
  await files.remove(within.scratch);
  for (const name of await files.list(pathIn(scratch, exportPaths.run))) {
    const path = `${exportPaths.run}/${name}`;
    if (path !== exportPaths.lock && !path.startsWith(exportPaths.lockSocket('')))
      await files.remove(pathIn(scratch, path));
  }
}
