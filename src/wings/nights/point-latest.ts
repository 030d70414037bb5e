import { someIdsOf, type Job } from '../../core/job/job-schema.ts';
import { basename, join, relative, resolve } from 'node:path';
import { dayIn, familyOf } from '../../core/job/night-names.ts';
import { utcDay } from '../../lib/clock.ts';
import { isBucketAddress, parentOf } from '../../lib/addresses/address-kinds.ts';
import { ExportError } from '../../lib/export-error.ts';
import { pathIn } from '../../places/export/export-folder.ts';
import { type ObjectLook, type ObjectStore, readObjectIfThere } from '../../places/objects/object-store.ts';
import { type Reads, writeWhole } from '../../places/files/disk.ts';
import { refusesLinks } from '../../lib/disk/on-disk.ts';
import { type HomeContext, openStoreAt } from '../../core/run/homes/open-home.ts';

/** What names the newest complete export beside it, and the link that leads to it in a folder. */
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
    if (await place.write(isNewer ? named : name)) return;
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
  /** Has it name an export, which it may do already. False when another process wrote it meanwhile. */
  write(name: string): Promise<boolean>;
}

async function openPlace({ output }: Job, context: HomeContext): Promise<LatestPlace> {
  const parent = parentOf(output.dir);
  if (!isBucketAddress(output.dir)) return fileIn(parent, context.files);
  return objectIn(parent, await openStoreAt(parent, output.endpoint, context));
}

/** The file decides. The link follows it, on a disk that has links: where a kill came between the two, the next command moves the link. */
function fileIn(folder: string, files: HomeContext['files']): LatestPlace {
  const path = join(folder, latestNames.object);
  const link = join(folder, latestNames.link);
  return {
    path,
    read: async () => {
      if ((await files.readLink(link)) === undefined && (await files.sizeOf(link)) !== undefined) throw taken(link);
      const named = await latestInFolder(files, folder);
      if (named === undefined && (await files.sizeOf(path)) !== undefined) throw taken(path);
      return named;
    },
    write: async (name) => {
      // Only this export makes files of this name: a rename puts each in place of the old one at once.
      const made = join(folder, `.${latestNames.link}.${name}`);
      await files.remove(made);
      const bytes = latestBytes(name);
      if ((await files.readAll(path))?.toString() !== bytes.toString())
        await writeWhole(files, { path, temporary: made }, (file) => file.write(bytes));
      if ((await files.readLink(link)) !== name) await moveLink(files, { link, made, name });
      await files.syncFolder(folder);
      return true;
    },
  };
}

async function moveLink(
  files: HomeContext['files'],
  { link, made, name }: { readonly link: string; readonly made: string; readonly name: string },
): Promise<void> {
  try {
    await files.makeLink(made, name);
    await files.rename(made, link);
  } catch (error) {
    if (!refusesLinks(error)) throw error;
  }
}

function objectIn(address: string, store: ObjectStore): LatestPlace {
  const name = latestNames.object;
  let found: ObjectLook | undefined;
  let named: string | undefined;
  return {
    path: `${address}/${name}`,
    read: async () => {
      found = await store.look(name);
      named = found === undefined ? undefined : await latestInBucket(store);
      if (found !== undefined && named === undefined) throw taken(`${address}/${name}`);
      return named;
    },
    write: async (latest) => {
      if (latest === named) return true;
      const body = { bytes: latestBytes(latest) };
      const put = found === undefined ? await store.putNew(name, body) : await store.replace(name, body, found.tag);
      return put === 'put';
    },
  };
}

/** What `latest` beside exports names: by its file, or where there is none, by its link. Undefined when it is neither, or of somebody else. */
export async function latestInFolder(files: Reads, folder: string): Promise<string | undefined> {
  const written = await files.readAll(pathIn(folder, latestNames.object));
  if (written !== undefined) return namedIn(written);
  const target = await files.readLink(pathIn(folder, latestNames.link));
  return target === undefined ? undefined : relative(folder, resolve(folder, target));
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
