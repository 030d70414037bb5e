import type { Job } from '../../job/job-schema.ts';
import { isBucketAddress } from '../../../lib/addresses/address-kinds.ts';
import { byteSize } from '../../../lib/format-text.ts';
import type { FreeSpace } from '../../../lib/disk/on-disk.ts';
import { shownPath } from '../../../lib/addresses/shown-text.ts';
import { probeFolder } from '../../../places/files/folder-place.ts';
import { diskSpace, diskText, requireSpace } from '../disk-estimate.ts';
import { localFolder } from '../homes/export-place.ts';
import type { Fact } from './fact.ts';

/** Sees that local folders can be written, and that the peak fits. @throws {ExportError} `cannotWrite` */
export async function checkDisk(
  job: Job,
  {
    entries,
    hasBase,
    stateFolder,
    free,
  }: {
    /** Entries of the lists, about, repeated ones too; undefined where these were not looked at. */
    readonly entries: number | undefined;
    /** Then only `plan` knows how many ids are requested: the disk has to hold the least. */
    readonly hasBase: boolean;
    /** Where credits are booked; undefined where a database or the export has the ledger. */
    readonly stateFolder: string | undefined;
    readonly free?: FreeSpace;
  },
): Promise<Fact> {
  if (isBucketAddress(job.output.dir)) await probeFolder(localFolder(job), 'hard');
  if (stateFolder !== undefined) await probeFolder(stateFolder, 'symbolic');
  const all = entries ?? 0;
  const space = await diskSpace(job, { assets: all, entries: all, free, ...(hasBase ? { asked: 0 } : {}) });
  requireSpace(space);
  const where = shownPath(space.folder, process.cwd());
  if (entries === undefined)
    return { fact: `${byteSize(space.free)} free in ${where}; how much is needed is not known` };
  return { fact: `${diskText(space, hasBase ? 'at least' : 'up to')} in ${where}` };
}
