import type { Job } from '../../job/job-schema.ts';
import { isBucketAddress } from '../../lib/bucket-address.ts';
import type { FreeSpace } from '../../lib/free-space.ts';
import { probeFolder } from '../../store/probe-folder.ts';
import { diskSpace, diskText, requireSpace } from '../disk-space.ts';
import { localFolder } from '../homes/local-folder.ts';
import type { Fact } from './fact.ts';

export interface DiskCheck {
  /** Entries of the lists, about: how many are repeated is not known here. */
  readonly entries: number;
  /** How many of them are requested of an export with a base, `plan` says: here the least is needed. */
  readonly hasBase: boolean;
  /** Where credits are booked; undefined where a database or the export has the ledger. */
  readonly stateFolder: string | undefined;
  readonly free?: FreeSpace;
}

/** Sees that local folders can be written, and that the peak fits. @throws {ExportError} `cannotWrite` */
export async function checkDisk(job: Job, { entries, hasBase, stateFolder, free }: DiskCheck): Promise<Fact> {
  if (isBucketAddress(job.output.dir)) await probeFolder(localFolder(job));
  if (stateFolder !== undefined) await probeFolder(stateFolder);
  const space = await diskSpace(job, { assets: entries, entries, free, ...(hasBase ? { asked: 0 } : {}) });
  requireSpace(space);
  return { fact: diskText(space) };
}
