import { copyFiles } from '../../exports/copy-export.ts';
import { openFinished } from '../../exports/finished-export.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { ObjectBody, ObjectStore } from '../../places/objects/object-store.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { FileStore } from '../../places/files/file-store.ts';
import { requireManifest } from '../../places/export/manifest.ts';
import type { ExportPlace } from '../../core/run/homes/export-place.ts';
import type { RepairOutcome } from './repair-outcome.ts';
import { awaitsRepair } from './clear-run.ts';

export interface BucketRepair {
  readonly place: ExportPlace;
  /** The local disk, and the folder on it where the files are repaired. */
  readonly disk: FileStore;
  readonly folder: string;
}

/**
 * Repairs an export in a bucket: copies it to a local folder, repairs it there, and puts back what differs, the manifest last.
 * A repair that was stopped, or did not put all back, is continued in the same folder. So `work` leaves its answers there.
 * @throws {ExportError} as `openFinished`; `unavailable` when somebody else changed the export meanwhile
 */
export async function repairInBucket(repair: BucketRepair, work: () => Promise<RepairOutcome>): Promise<RepairOutcome> {
  const { disk, folder } = repair;
  const { store } = repair.place;
  if (!(await awaitsRepair(disk, folder))) await copyWhatIsThere(repair);
  // Others see it: prune removes no export that is being repaired.
  await store.put(exportPaths.repairing, { bytes: Buffer.of() });
  const outcome = await work();
  await putBack(repair, outcome);
  const isOver = outcome.error === undefined && outcome.after.damage.length === 0;
  if (isOver || !(await awaitsRepair(disk, folder))) {
    await disk.remove(folder);
    await store.remove([exportPaths.repairing]);
  }
  return outcome;
}

async function copyWhatIsThere({ place, disk, folder: target }: BucketRepair): Promise<void> {
  const { files: from, folder, store } = place;
  const { manifest } = await openFinished(folder, from);
  await disk.remove(target);
  for (const path of [...manifest.files.map((file) => file.path), exportPaths.manifest]) {
    if ((await store.look(path)) !== undefined) await copyFiles({ from, folder, to: disk, target }, [path]);
  }
}

/** Puts what was repaired now, or in a run that was stopped before it put its files. */
async function putBack({ place, disk, folder }: BucketRepair, outcome: RepairOutcome): Promise<void> {
  const manifest = await requireManifest(disk, folder);
  const damaged = new Set(outcome.after.damage.map(({ path }) => path));
  for (const { path, part, bytes, sha256 } of manifest.files) {
    if (damaged.has(path)) continue;
    const isNew = outcome.rebuilt.includes(path) || outcome.parts.includes(part);
    const found = isNew ? undefined : await place.store.look(path);
    if (found?.bytes === bytes && found.sha256 === sha256) continue;
    await putChanged(place, path, { file: pathIn(folder, path), bytes, sha256 });
  }
  const written = await disk.readAll(pathIn(folder, exportPaths.manifest));
  const before = await place.files.readAll(pathIn(place.folder, exportPaths.manifest));
  if (written === undefined || (before !== undefined && Buffer.compare(written, before) === 0)) return;
  await putChanged(place, exportPaths.manifest, { bytes: written });
}

async function putChanged({ store, folder }: Pick<ExportPlace, 'store' | 'folder'>, name: string, body: ObjectBody) {
  if ((await put(store, name, body)) === 'put') return;
  throw new ExportError('unavailable', `${folder}/${name} was changed by another process during the repair`, {
    todo: 'Run verify again.',
  });
}

async function put(store: ObjectStore, name: string, body: ObjectBody): Promise<'put' | 'taken' | 'changed'> {
  const found = await store.look(name);
  return found === undefined ? store.putNew(name, body) : store.replace(name, body, found.tag);
}
