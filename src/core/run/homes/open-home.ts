import { batchShape } from '../../ids/batch-ids.ts';
import type { Job } from '../../job/job-schema.ts';
import { isBucketAddress } from '../../../lib/addresses/bucket-address.ts';
import type { ObjectStore } from '../../../places/objects/object-store.ts';
import type { ExportContext } from '../export-context.ts';
import type { BucketPlace } from './bucket-place.ts';
import type { ExportHome } from './export-home.ts';
import { folderHome } from './folder-home.ts';
import { localFolder } from './local-folder.ts';

export interface HomeContext extends Pick<ExportContext, 'files' | 'clock' | 'random'> {
  readonly openStore?: ExportContext['openStore'] | undefined;
  readonly listener?: ExportContext['listener'] | undefined;
  readonly abort?: ExportContext['abort'] | undefined;
}

/** The home of a job's export. @throws {ExportError} `usage` for an address that is none, or a package that is not installed */
export async function openHome(job: Job, context: HomeContext): Promise<ExportHome> {
  const { files } = context;
  const { dir } = job.output;
  if (!isBucketAddress(dir)) return folderHome(files, dir);
  const { bucketHome } = await import('./bucket-home.ts');
  return bucketHome(await openBucketPlace(job, context));
}

/** The place of an export in a bucket. @throws {ExportError} `usage` */
export async function openBucketPlace(job: Job, context: HomeContext): Promise<BucketPlace> {
  const { files, clock, abort } = context;
  const { dir, endpoint } = job.output;
  const store = await openStoreAt(dir, endpoint, context);
  const { entriesPerSlice, deadAfterSeconds } = job.fleet;
  const shape = { ...batchShape(job), entriesPerSlice };
  return { files, store, clock, abort, address: dir, scratch: localFolder(job), shape, deadAfterSeconds };
}

/** The store at the address of a bucket. @throws {ExportError} `usage` */
export async function openStoreAt(
  address: string,
  endpoint: string | undefined,
  { clock, random, openStore, listener, abort }: Omit<HomeContext, 'files'>,
): Promise<ObjectStore> {
  const open = openStore ?? (await import('../../../places/objects/open-objects.ts')).openObjects;
  let quietUntilMs = 0;
  // Operations that run at once meet the same trouble.
  const onTrouble = (message: string): void => {
    if (clock.now() < quietUntilMs) return;
    quietUntilMs = clock.now() + 60_000;
    listener?.({ kind: 'warning', message });
  };
  return open({ address, endpoint, clock, random, abort, onTrouble });
}
