import { batchShape } from '../../ids/batch-ids.ts';
import type { Job } from '../../job/job-schema.ts';
import { isBucketAddress } from '../../../lib/addresses/address-kinds.ts';
import type { ObjectStore } from '../../../places/objects/object-store.ts';
import type { ExportContext } from '../export-context.ts';
import { pathIn } from '../../../places/export/export-folder.ts';
import type { Commit } from '../../../places/export/export-facts.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { plural } from '../../../lib/format-text.ts';
import { askedIds } from '../history/run-figures.ts';
import { type ExportPlace, inFolder, localFolder } from './export-place.ts';
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
  const { files, clock, abort, listener } = context;
  const { dir, endpoint } = job.output;
  const { store } = await openPlace(dir, endpoint, context);
  const { entriesPerSlice, deadAfterSeconds } = job.fleet;
  const shape = { ...batchShape(job), entriesPerSlice };
  const others = store.isShared ? await import('./shared-home.ts') : undefined;
  const onDamaged = (commit: Commit, damage: string): void => {
    const message = `${pathIn(dir, damage)}: ${remakingText(job, commit)}`;
    listener?.({ kind: 'warning', message });
  };
  const scratch = localFolder(job);
  return { files, store, clock, abort, address: dir, scratch, shape, deadAfterSeconds, onDamaged, others };
}

function remakingText({ service, budget }: Job, { part, counts, cap = service.idsPerCall }: Commit): string {
  const calls = Math.ceil(askedIds(counts) / Math.min(cap, service.idsPerCall));
  const price = plural(calls * budget.creditsPerCall, 'credit');
  return `part ${part} is made again (about ${plural(calls, 'call')}, ${price})`;
}

/** What lies at an address, in a folder or a bucket. @throws {ExportError} `usage` */
export async function openPlace(
  address: string,
  endpoint: string | undefined,
  context: HomeContext,
): Promise<ExportPlace> {
  if (!isBucketAddress(address)) return inFolder(context.files, address);
  const { inBucket } = await import('./shared-home.ts');
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
    const files: RemoteFile[] = [];
    for await (const { name, bytes } of store.list(fixed.slice(top.length + 1))) {
      if (!pattern.test(name) || name.endsWith('/')) continue;
      const found = `${top}/${name}`;
      files.push({ address: found, bytes, read: () => readIds(store.read(name), found) });
    }
    return files.sort((a, b) => (a.address < b.address ? -1 : 1));
  };
}

/** To a store an object that vanishes or changes while it is read is damaged; a list of ids is an input. */
async function* readIds(blocks: AsyncIterable<Uint8Array>, address: string): AsyncGenerator<Uint8Array> {
  try {
    yield* blocks;
  } catch (error) {
    if (!(error instanceof ExportError) || error.exit !== 'damaged') throw error;
    throw new ExportError('input', error.message, {
      todo: `Put ${address} back as it was, or start over with --fresh.`,
      cause: error,
    });
  }
}
