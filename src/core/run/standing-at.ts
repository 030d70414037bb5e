import { ExportError } from '../../lib/export-error.ts';
import { type ExportStanding, folderStanding } from './record/export-standing.ts';
import type { ExportPlace } from './homes/export-place.ts';

/** How the export stands that lies there. @throws {ExportError} `usage` where none does, `damaged` */
export async function standingAt(place: ExportPlace, nowMs: number): Promise<ExportStanding> {
  const standing = await standingIfAny(place, nowMs);
  if (standing !== undefined) return standing;
  throw new ExportError('usage', `${place.folder} is not an export: it has neither a manifest nor a checkpoint`, {
    todo: 'Name the output folder of an export (--out, output.dir).',
  });
}

/** The same; undefined where none does. @throws {ExportError} `damaged` */
export async function standingIfAny(
  { files, folder, store }: ExportPlace,
  nowMs: number,
): Promise<ExportStanding | undefined> {
  if (store === undefined) return folderStanding(files, folder);
  return (await import('./homes/bucket-standing.ts')).bucketStanding(store, folder, nowMs);
}
