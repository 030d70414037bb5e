import { batchShape } from '../../ids/batch-ids.ts';
import type { Job } from '../../job/job-schema.ts';
import { isBucketAddress } from '../../../lib/addresses/bucket-address.ts';
import type { ObjectStore } from '../../../places/objects/object-store.ts';
import type { ExportContext } from '../export-context.ts';
import { type ExportPlace, inBucket, inFolder } from './export-place.ts';
import type { HomePlace } from './home-place.ts';
import type { ExportHome } from './export-home.ts';
import { homeAt } from './home.ts';
import { localFolder } from './local-folder.ts';

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
  const { files, clock, abort } = context;
  const { dir, endpoint } = job.output;
  const { store } = await openPlace(dir, endpoint, context);
  const { entriesPerSlice, deadAfterSeconds } = job.fleet;
  const shape = { ...batchShape(job), entriesPerSlice };
  const others = store.isShared ? await import('./among-others.ts') : undefined;
  return { files, store, clock, abort, address: dir, scratch: localFolder(job), shape, deadAfterSeconds, others };
}

/** What lies at an address, in a folder or a bucket. @throws {ExportError} `usage` */
export async function openPlace(
  address: string,
  endpoint: string | undefined,
  context: HomeContext,
): Promise<ExportPlace> {
  if (!isBucketAddress(address)) return inFolder(context.files, address);
  return inBucket(await openStoreAt(address, endpoint, context), address);
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
