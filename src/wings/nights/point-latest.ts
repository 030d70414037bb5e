import { someIdsOf } from '../../core/job/job-traits.ts';
import { basename, join } from 'node:path';
import type { Job } from '../../core/job/job-schema.ts';
import { dayIn, familyOf } from '../../core/job/night-names.ts';
import { utcDay } from '../../lib/clock.ts';
import { isBucketAddress, parentOf } from '../../lib/addresses/address-kinds.ts';
import { ExportError } from '../../lib/export-error.ts';
import { type ObjectLook, type ObjectStore, readObjectIfThere } from '../../places/objects/object-store.ts';
import { type Disk, writeWhole } from '../../places/files/disk.ts';
import { refusesLinks } from '../../lib/disk/on-disk.ts';
import { type HomeContext, openStoreAt } from '../../core/run/homes/open-home.ts';

/** The link beside exports that leads to the newest complete one, and what names it in a bucket and on a disk without links. */
export const latestNames = { link: 'latest', object: 'latest.json' } as const;

/** An export of the first ids alone is not the newest of all. */
function pointsLatest({ output, ids }: Job): boolean {
  return output.latest && someIdsOf(ids) === undefined;
}

/** Refuses what lies where `latest` belongs and is not one of this job. @throws {ExportError} `usage` */
export async function requireLatestFree(job: Job, context: HomeContext): Promise<void> {
  if (pointsLatest(job)) await namedBy(await openPlace(job, context), job);
}

/**
 * Has `latest` name a complete export. It never goes back to an older night, except from one dated after today, and always names something.
 * @throws {ExportError} `usage` when something else has its name
 */
export async function pointLatest(job: Job, context: HomeContext): Promise<void> {
  if (!pointsLatest(job)) return;
  const place = await openPlace(job, context);
  const name = basename(job.output.dir);
  const today = utcDay(context.clock.now());
  for (;;) {
    const named = await namedBy(place, job);
    const day = named === undefined ? undefined : dayIn(named);
    const isNewer = named !== undefined && day !== undefined && name < named && day <= today;
    if (named === name || isNewer) return place.settle();
    if (await place.write(name)) return;
  }
}

/** What `latest` names. @throws {ExportError} `usage` where that is not a night of this job */
async function namedBy(place: LatestPlace, { output: { dir } }: Job): Promise<string | undefined> {
  const named = await place.read();
  if (named === undefined || familyOf(named) === familyOf(basename(dir))) return named;
  throw new ExportError('usage', `${place.path} names ${named}, which is not a night of this job`, {
    todo: 'Give each job a folder of its own (output.dir, --out), or leave out output.latest (--latest).',
  });
}

interface LatestPlace {
  readonly path: string;
  /** What it names. @throws {ExportError} `usage` */
  read(): Promise<string | undefined>;
  /** False when another process wrote it meanwhile. */
  write(name: string): Promise<boolean>;
  /** Makes what was read survive a loss of power. */
  settle(): Promise<void>;
}

async function openPlace({ output }: Job, context: HomeContext): Promise<LatestPlace> {
  const parent = parentOf(output.dir);
  if (!isBucketAddress(output.dir)) return linkIn(parent, context.files);
  return objectIn(parent, await openStoreAt(parent, output.endpoint, context));
}

function linkIn(folder: string, files: Disk): LatestPlace {
  const link = join(folder, latestNames.link);
  const object = join(folder, latestNames.object);
  const read = async (): Promise<string | undefined> => {
    const target = await files.readLink(link);
    if (target !== undefined) return basename(target);
    if ((await files.sizeOf(link)) !== undefined) throw taken(link);
    const written = await files.readAll(object);
    const named = written === undefined ? undefined : namedIn(written);
    if (written !== undefined && named === undefined) throw taken(object);
    return named;
  };
  return {
    path: link,
    read,
    write: async (name) => {
      // Only this export makes a link of this name: a rename puts it in place of the old one at once.
      const made = join(folder, `.${latestNames.link}.${name}`);
      await files.remove(made);
      try {
        await files.makeLink(made, name);
        await files.rename(made, link);
      } catch (error) {
        if (!refusesLinks(error)) throw error;
        await writeWhole(files, { path: object, temporary: made }, (file) => file.write(latestBytes(name)));
      }
      await files.syncFolder(folder);
      return true;
    },
    settle: () => files.syncFolder(folder),
  };
}

function objectIn(address: string, store: ObjectStore): LatestPlace {
  let found: ObjectLook | undefined;
  const name = latestNames.object;
  return {
    path: `${address}/${name}`,
    read: async () => {
      found = await store.look(name);
      if (found === undefined) return undefined;
      const named = await latestInBucket(store);
      if (named === undefined) throw taken(`${address}/${name}`);
      return named;
    },
    write: async (latest) => {
      const body = { bytes: latestBytes(latest) };
      const put = found === undefined ? await store.putNew(name, body) : await store.replace(name, body, found.tag);
      return put === 'put';
    },
    settle: () => Promise.resolve(),
  };
}

/** What the object `latest.json` of a store names; undefined when there is none, or it is something else. */
export async function latestInBucket(store: ObjectStore): Promise<string | undefined> {
  const bytes = await readObjectIfThere(store, latestNames.object);
  return bytes === undefined ? undefined : namedIn(bytes);
}

function latestBytes(latest: string): Buffer {
  return Buffer.from(`${JSON.stringify({ latest })}\n`);
}

function namedIn(bytes: Uint8Array): string | undefined {
  try {
    const value = JSON.parse(Buffer.from(bytes).toString()) as { readonly latest?: unknown } | null;
    return typeof value?.latest === 'string' ? value.latest : undefined;
  } catch {
    return undefined;
  }
}

function taken(path: string): ExportError {
  return new ExportError('usage', `${path} exists and was not made by output.latest: refusing to replace it`, {
    todo: 'Move it, or leave out output.latest (--latest).',
  });
}
