import type { Clock } from '../../lib/clock.ts';
import { basename } from 'node:path';
import type { ExportPlace } from '../../core/run/homes/export-place.ts';
import { ExportError, messageOf } from '../../lib/export-error.ts';
import { limitOf } from '../../places/export/export-facts.ts';
import { pathIn } from '../../places/export/export-folder.ts';
import { readManifest } from '../../places/export/manifest.ts';
import { nightsAt } from './open-nights.ts';

/** A complete export among others. */
export interface NightInOrder {
  /** Absolute, or the address in a bucket. */
  readonly folder: string;
  /** When it began, in milliseconds since 1970; undefined where nothing says so. */
  readonly startedAtMs: number | undefined;
}

/**
 * The complete exports of a folder or bucket in the order in which they began: no diffs, no lists, no first ids, none that was set aside.
 * @param isWanted of their names, relative to the place
 * @param note takes a line on each that is passed by because it is unfinished or damaged
 */
export async function nightsInOrder(
  place: ExportPlace,
  clock: Pick<Clock, 'now'>,
  { isWanted, note }: { readonly isWanted: (name: string) => boolean; readonly note: (text: string) => void },
): Promise<NightInOrder[]> {
  const { files, folder: top } = place;
  const { complete, untouched } = await (await nightsAt(place, clock)).survey();
  const nights: NightInOrder[] = [];
  for (const { name } of [...complete, ...untouched]) {
    if (!isWanted(name)) continue;
    const folder = pathIn(top, name);
    try {
      const manifest = await readManifest(files, folder);
      if (manifest === undefined) note(`${basename(folder)} is not complete: it is skipped`);
      else if (manifest.kind === undefined && manifest.setAside === undefined && limitOf(manifest.job) === undefined)
        nights.push({ folder, startedAtMs: manifest.startedAtMs });
    } catch (error) {
      if (!(error instanceof ExportError)) throw error;
      note(`${basename(folder)} is skipped: ${messageOf(error)}`);
    }
  }
  return nights.sort((one, other) => (one.startedAtMs ?? 0) - (other.startedAtMs ?? 0));
}
