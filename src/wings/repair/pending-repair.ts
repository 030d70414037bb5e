import { dirname } from 'node:path';
import { z } from 'zod';
import { askedInputs } from '../nights/index.ts';
import { copyFiles } from '../../exports/copy-export.ts';
import type { FinishedExport, ManifestFile } from '../../exports/finished-export.ts';
import { changesTable } from '../../core/records/columns.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { FileStore } from '../../places/files/file-store.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import { writeWhole } from '../../places/files/write-whole.ts';
import { homeInFolder } from './home-in-folder.ts';
import type { DamagedExport } from './rebuild-files.ts';

const pendingSchema = z.object({
  /** The parts that are requested again, from 0. */
  parts: z.array(z.number()),
  /** The ids that are requested are those that the base does not give; else all ids of these parts. */
  withBase: z.boolean(),
  /** Of the export, before anything was requested again. */
  calls: z.number(),
  credits: z.number(),
  /** Without the base: the file of `changes` that names the deleted assets which are not listed any more. It is copied. */
  changes: z.string().optional(),
});

/** What a repair of an export with a base requests again. It is fixed until its parts are made, so that no answer is paid for twice. */
export type PendingRepair = z.infer<typeof pendingSchema>;

/** The repair that was stopped in a folder; undefined where none was, or nothing was requested yet. */
export async function readPending(files: FileStore, folder: string): Promise<PendingRepair | undefined> {
  const content = await files.readAll(pathIn(folder, exportPaths.repairing));
  if (content === undefined) return undefined;
  try {
    return pendingSchema.safeParse(JSON.parse(Buffer.from(content).toString('utf8'))).data;
  } catch {
    // An export without a base leaves it empty, and a loss of power may.
    return undefined;
  }
}

/** Fixes what is requested. What an earlier repair requested is removed; that it was paid for is not forgotten. */
export async function beginPending(
  { finished, damaged, job }: DamagedExport,
  { parts, withBase }: { readonly parts: ReadonlySet<number>; readonly withBase: boolean },
): Promise<PendingRepair> {
  const { files, manifest } = finished;
  const folder = job.output.dir;
  const mark = pathIn(folder, exportPaths.repairing);
  const inner = (await homeInFolder(files, folder)).asked();
  const earlier = await readPending(files, folder);
  const spent = (await inner.readManifest()) ?? (await inner.readProgress())?.spent ?? { calls: 0, credits: 0 };
  const last = manifest.parts - 1;
  const changes = withBase || !parts.has(last) ? undefined : lastChangesOf({ finished, damaged });
  if (changes !== undefined) await keepFile(finished, changes.path);
  const pending = {
    parts: [...parts],
    withBase,
    calls: Math.max(manifest.calls, (earlier?.calls ?? 0) + spent.calls),
    credits: Math.max(manifest.credits, (earlier?.credits ?? 0) + spent.credits),
    ...(changes === undefined ? {} : { changes: changes.path }),
  };
  await writeWhole(files, { path: mark }, (file) => file.write(Buffer.from(JSON.stringify(pending))));
  await files.syncFolder(pathIn(folder, exportPaths.run));
  await files.remove(pathIn(folder, exportPaths.asked));
  return pending;
}

/** Removes what an earlier repair requested of other ids, or half removed. */
export async function dropOtherAnswers(files: FileStore, folder: string): Promise<void> {
  const inner = (await homeInFolder(files, folder)).asked();
  const start = (await inner.readManifest()) ?? (await inner.readProgress())?.start;
  const { fingerprints } = await askedInputs(files, pathIn(folder, exportPaths.askedIds));
  if (start?.inputs[0]?.sha256 !== fingerprints[0]?.sha256) await files.remove(pathIn(folder, exportPaths.asked));
}

async function keepFile({ files, folder }: FinishedExport, path: string): Promise<void> {
  const target = pathIn(folder, exportPaths.kept);
  const kept = pathIn(target, path);
  await copyFiles({ from: files, folder, to: files, target }, [path]);
  const file = await files.open(kept, 'update');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  await files.syncFolder(dirname(kept));
}

/** An intact file of `changes` of the last part. */
export function lastChangesOf({
  finished,
  damaged,
}: {
  readonly finished: FinishedExport;
  readonly damaged: ReadonlySet<string>;
}): ManifestFile | undefined {
  const last = finished.manifest.parts - 1;
  return finished.filesOf(changesTable.name).find(({ part, path }) => part === last && !damaged.has(path));
}

/** The kept file of `changes`, as a file of the export. */
export function keptChanges({ files }: Manifest, { changes }: PendingRepair): ManifestFile | undefined {
  const file = files.find(({ path }) => path === changes);
  return file === undefined ? undefined : { ...file, path: `${exportPaths.kept}/${file.path}` };
}
