import { batchShape } from '../../ids/batch-ids.ts';
import type { Job } from '../../job/job-schema.ts';
import { isBucketAddress } from '../../../lib/addresses/address-kinds.ts';
import type { ObjectStore } from '../../../places/objects/object-store.ts';
import type { ExportContext } from '../export-context.ts';
import { type ExportPlace, inBucket, inFolder, localFolder } from './export-place.ts';
import type { HomePlace } from './home-place.ts';
import type { ExportHome } from './export-home.ts';
import { homeAt } from './home.ts';
import { type FindRemote, namePattern, type RemoteFile } from '../../ids/id-input.ts';

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
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  // Operations that run at once meet the same trouble.
  const onTrouble = (message: string): void => {
    if (clock.monotonic() < quietUntilMs) return;
    quietUntilMs = clock.monotonic() + 60_000;
    listener?.({ kind: 'warning', message });
  };
  return open({ address, endpoint, clock, random, abort, onTrouble });
}

/** Finds ids in buckets. The endpoint of the output is that of ids in an S3-compatible store too. */
export function bucketIds({ output }: Pick<Job, 'output'>, context: Omit<HomeContext, 'files'>): FindRemote {
  return async (address) => {
    const fixed = address.split('*', 1)[0] ?? '';
    // The store is that of the folder around all names that can match.
    const top = fixed.slice(0, fixed.lastIndexOf('/'));
    if (!/^\w+:\/\/[^/]/.test(top)) return [];
    const endpoint = address.startsWith('s3://') ? output.endpoint : undefined;
    const store = await openStoreAt(top, endpoint, context);
    const pattern = namePattern(address.slice(top.length + 1));
    const found: RemoteFile[] = [];
    for await (const { name, bytes } of store.list(fixed.slice(top.length + 1))) {
      if (!pattern.test(name) || name.endsWith('/')) continue;
      found.push({ address: `${top}/${name}`, bytes, read: () => store.read(name) });
    }
    return found.sort((a, b) => (a.address < b.address ? -1 : 1));
  };
}
