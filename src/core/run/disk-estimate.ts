import { availableParallelism } from 'node:os';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import type { Job } from '../job/job-schema.ts';
import type { Format, PartCodec } from '../formats/sink.ts';
import { ExportError } from '../../lib/export-error.ts';
import { byteSize } from '../../lib/format-text.ts';
import { type FreeSpace, freeSpace } from '../../lib/disk/on-disk.ts';
import { shownPath } from '../../lib/addresses/shown-text.ts';
import type { ExportContext } from './export-context.ts';
import { localFolder } from './homes/export-place.ts';
import { requireCallInBudget } from '../client/policies/day-gate.ts';
import { maxObjectBytes } from '../../places/objects/object-store.ts';

/** @throws {ExportError} `usage` for a job that no run can complete, whatever its ids are */
export function requireRunnable(job: Job, isRest = false): void {
  requireCallInBudget(isRest ? { ...job.budget, creditsPerRun: undefined } : job.budget);
  const error = unputtableParts(job);
  if (error !== undefined) throw error;
}

/** The error of parts whose files a bucket will not take: each is put in one request. Undefined where they fit. */
export function unputtableParts(job: Job): ExportError | undefined {
  const bytes = largestFileEstimate(job);
  if (!isBucketAddress(job.output.dir) || bytes <= maxObjectBytes) return undefined;
  return new ExportError(
    'usage',
    `a file of a part takes about ${byteSize(bytes)}; a bucket takes at most ${byteSize(maxObjectBytes)} a file`,
    { todo: 'Lower output.rowsPerPart (--rows-per-part).', facts: { bytes } },
  );
}

/**
 * Bytes an asset takes in each format, in the table `assets` and in all child tables together. Measured on the sample export
 * (jobs/demo.yaml): Parquet with zstd, others plain.
 */
const assetBytes: Readonly<Record<Format, Readonly<Record<'assets' | 'children', number>>>> = {
  parquet: { assets: 290, children: 230 },
  csv: { assets: 1290, children: 630 },
  jsonl: { assets: 2270, children: 1050 },
  raw: { assets: 1700, children: 0 },
};

/** What a codec leaves. Parquet's figures already hold it. */
const codecShare: Readonly<Record<PartCodec, number>> = { none: 1, snappy: 0.5, gzip: 0.25, zstd: 0.25, blocks: 0.25 };

/** Bytes of an id in `ids/`: 32.2 of them are the id, the others its line and its state. */
const keptIdBytes = 37;

/**
 * Bytes of a row in `unexported/`, besides the name of its input. Measured: 75 for a repeated id, 107 for one with a character
 * that is not base58.
 */
const unexportedBytes = 80;

/** What an export is made of. */
export interface DiskCounts {
  /** Ids of its list, each once. */
  readonly assets: number;
  /** All entries of its list: repeated and invalid ones too. */
  readonly entries: number;
  /** Of the assets, those that are requested where the others come from a base; all unless given. */
  readonly asked?: number | undefined;
}

/**
 * A record that was requested, in the journal of its part until that is committed. Measured: 20,000 generated records take 34.8 MB
 * there, whatever the format; the records of the sample data are about as long.
 */
const answerBytes = 1740;

/** The same in what a night keeps of its requests (`places/export/codec.ts`). Measured: 40,000 take 17.6 MB. */
const packedBytes = 440;

/**
 * Parts whose answers are kept at a time. Calls run ahead of the encoders, and parts are committed in order. Measured with parts of
 * 2,000 and 20,000 ids: 1.3 to 6.3 parts with one thread, 1.7 to 5.9 with two; the more the slower the format is.
 */
function partsAtOnce({ threads = availableParallelism() }: Job['output']): number {
  return 4 + 2 * threads;
}

/** Rows of a base that wait in a file, because the ids have another order, come on top. */
export function diskNeeds(job: Job, counts: DiskCounts): Pick<DiskSpace, 'finished' | 'peak'> {
  const { output } = job;
  const { assets, entries, asked } = counts;
  const finished = diskEstimate(job, counts);
  const atOnce = output.rowsPerPart * partsAtOnce(output);
  const journals = answerBytes * Math.min(asked ?? assets, atOnce);
  // The files of a bucket leave the disk with their part.
  const share = isBucketAddress(output.dir) ? Math.min(1, atOnce / Math.max(1, entries)) : 1;
  const files = Math.round(finished * share);
  if (asked === undefined) return { finished, peak: files + journals };
  // What a night requests is packed before its tables are written.
  return { finished, peak: packedBytes * asked + Math.max(files, journals) };
}

/** Bytes of the largest file of a whole part, roughly. */
function largestFileEstimate({ output }: Job): number {
  const isAssets = output.tables.includes('assets');
  const files = output.formats.map((format) => {
    const { assets, children } = assetBytes[format];
    const codec = format === 'parquet' ? 1 : codecShare[output.compression[format]];
    return (format === 'raw' || isAssets ? assets : children) * codec;
  });
  return Math.round(output.rowsPerPart * Math.max(0, ...files));
}

/** Bytes that the files of an export will take, roughly. What will be missing is not known. */
export function diskEstimate({ ids, output }: Job, { assets, entries }: DiskCounts): number {
  const children = output.tables.filter((table) => table !== 'assets').length / 6;
  const bytes = output.formats.map((format) => {
    const each = assetBytes[format];
    const main = format === 'raw' || output.tables.includes('assets') ? each.assets : 0;
    const codec = format === 'parquet' ? 1 : codecShare[output.compression[format]];
    return (main + each.children * children) * codec;
  });
  const tables = assets * bytes.reduce((sum, each) => sum + each, 0);
  const kept = output.keepIds ? keptIdBytes * entries : 0;
  const source = Math.max(0, ...ids.from.map((name) => name.length));
  return Math.round(tables + kept + (unexportedBytes + source) * (entries - assets));
}

/** What an export needs on disks, roughly, and what is free there, in bytes. */
export interface DiskSpace {
  /** Its files when it is finished, on a disk or in a bucket. */
  readonly finished: number;
  /** The most that is on the local disk at a time while it runs. */
  readonly peak: number;
  /** Where the peak is: the folder of the export, or its scratch folder. */
  readonly folder: string;
  readonly free: number;
}

export async function diskSpace(
  job: Job,
  { free = freeSpace, ...counts }: DiskCounts & { readonly free?: FreeSpace | undefined },
): Promise<DiskSpace> {
  const folder = localFolder(job);
  return { ...diskNeeds(job, counts), folder, free: await free(folder) };
}

/** `about 25 MB, up to 102 MB while it runs; 4.12 GB free`. @param most what the peak is: the most, or the least of it */
export function diskText({ finished, peak, free }: Omit<DiskSpace, 'folder'>, most = 'up to'): string {
  return `about ${byteSize(finished)}, ${most} ${byteSize(peak)} while it runs; ${byteSize(free)} free`;
}

/** What to say where the peak does not fit; undefined where it does. */
export function diskShortage(space: DiskSpace): string | undefined {
  const { peak, free, folder } = space;
  if (peak <= free) return undefined;
  const where = shownPath(folder, process.cwd());
  return `the export needs up to about ${byteSize(peak)} of disk while it runs, and ${byteSize(free)} are free in ${where}`;
}

/** Warns at the start of a run whose peak does not fit. What cannot be found out warns of nothing. */
export async function warnOfDisk(
  job: Job,
  counts: DiskCounts,
  { freeSpace: free, listener }: Pick<ExportContext, 'freeSpace' | 'listener'>,
): Promise<void> {
  const space = await diskSpace(job, { ...counts, free }).catch(() => undefined);
  const message = space === undefined ? undefined : diskShortage(space);
  if (message !== undefined) listener({ kind: 'warning', message });
}

/** @throws {ExportError} `cannotWrite` where the peak does not fit */
export function requireSpace(space: DiskSpace): void {
  const message = diskShortage(space);
  if (message === undefined) return;
  throw new ExportError('cannotWrite', message, {
    todo: 'Free disk space, or choose another folder with --out or --scratch. Smaller parts (--rows-per-part) keep fewer answers at a time.',
  });
}
