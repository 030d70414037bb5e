import type { Job } from '../../job/job-schema.ts';
import { isBucketAddress } from '../../../lib/addresses/address-kinds.ts';
import { byteSize, count, plural } from '../../../lib/format-text.ts';
import type { FreeSpace } from '../../../lib/disk/on-disk.ts';
import { shownPath } from '../../../lib/addresses/shown-text.ts';
import { probeFolder } from '../../../places/files/folder-place.ts';
import { diskSpace, diskText, requireSpace } from '../disk-estimate.ts';
import { localFolder } from '../homes/export-place.ts';
import type { Fact, OtherClock } from './check-service.ts';
import type { IdInput } from '../../ids/id-input.ts';
import { findInputs, aboutEntries, bytesOfInput, firstEntries } from '../../ids/prepare-inputs.ts';
import type { LoadedJob } from '../../job/load-job.ts';
import { localDisk } from '../../../places/files/disk.ts';
import { type HomeContext, bucketIds, openHome } from '../homes/open-home.ts';
import { intolerableIds } from '../tolerance.ts';
import type { TakenColumn } from '../../ids/read/list-form.ts';
import { probeStore } from '../../../places/objects/open-objects.ts';
import type { ExportStanding } from '../history/run-history.ts';
import { standingIfAny } from '../homes/standing.ts';
import { jobShape, requireSame } from '../job-shape.ts';
import { requireFollowable, nightsFor, type RunWings } from '../nights.ts';
import { fingerprintInputs } from '../../ids/read/input-bytes.ts';

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

export interface CheckedIds extends Fact {
  /** Undefined where some come from stdin, which the run alone reads. */
  readonly inputs: readonly IdInput[] | undefined;
  /** The ids that were read. */
  readonly firstIds: readonly string[];
  /** Whether these are all. */
  readonly isAll: boolean;
  readonly columns: readonly TakenColumn[];
  /** Entries of all lists, about; undefined where some come from stdin, which is not read. */
  readonly inAll: number | undefined;
}

interface Sums {
  entries: number;
  ids: string[];
  inAll: number;
  isWhole: boolean;
}

/**
 * Reads the first entries of each file of ids.
 * @param folder for copies of what cannot be read in its bucket
 * @throws {ExportError} `input`; `notTolerated` where these are all and a run would not end with 0
 */
export async function checkIds(
  { job, idsFolder, outputDir }: LoadedJob,
  { folder, context }: { readonly folder: string; readonly context: Omit<HomeContext, 'files'> },
): Promise<CheckedIds> {
  const from = job.ids.from.filter((name) => name !== '-');
  const hasStdin = from.length < job.ids.from.length;
  const warnings = hasStdin ? ['ids from stdin are read by the run alone'] : [];
  if (from.length === 0)
    return { fact: 'not read', warnings, inputs: undefined, firstIds: [], isAll: false, columns: [], inAll: undefined };
  const { inputs, columns } = await findInputs({
    job: { ...job, ids: { ...job.ids, from } },
    idsFolder,
    outputDir,
    folder,
    files: localDisk,
    stdin: process.stdin,
    streams: true,
    findRemote: bucketIds(job, context),
    onNote: (note) => warnings.push(note),
  });
  const sums: Sums = { entries: 0, ids: [], inAll: 0, isWhole: true };
  for (const input of inputs) {
    const first = await firstEntries(input, job.ids);
    sums.entries += first.entries;
    sums.ids.push(...first.ids);
    sums.inAll += aboutEntries(input, await bytesOfInput(input));
    sums.isWhole &&= input.looked?.isWhole === true && input.looked.entries <= first.entries;
  }
  const { entries, ids, inAll } = sums;
  const bad = entries - ids.length;
  const isAll = sums.isWhole && !hasStdin && job.ids.limit === undefined;
  const error = isAll ? intolerableIds({ read: entries, invalid: bad, duplicates: 0 }, job) : undefined;
  if (error !== undefined) throw error;
  if (bad > 0)
    warnings.unshift(`${count(bad)} of the ${count(entries)} entries ${bad === 1 ? 'is no id' : 'are no ids'}`);
  const about = Math.min(inAll, job.ids.limit ?? inAll);
  const lists = hasStdin ? undefined : inputs;
  return {
    fact: factOf(inputs.length, sums),
    warnings,
    inputs: lists,
    firstIds: ids,
    isAll,
    columns,
    inAll: hasStdin ? undefined : about,
  };
}

function factOf(files: number, { entries, ids, isWhole }: Sums): string {
  const found = entries === ids.length ? 'are ids' : 'were read';
  if (isWhole) return `${plural(files, 'file')}, all ${count(entries)} entries ${found}`;
  return `${plural(files, 'file')}, first 1,000 entries${files === 1 ? '' : ' of each'} ${found}`;
}

/**
 * Sees that an export can be written to its place. What is made for that is removed.
 * @param outputDir `output.dir` as the job has it, with `{date}`
 * @param inputs the lists, which are compared whole with those of an export that began; undefined where they were not read
 * @throws {ExportError} `usage` where other files are, or a store overwrites; `cannotWrite`, `unavailable`
 */
export async function checkOutput(
  job: Job,
  context: HomeContext & RunWings,
  { outputDir, inputs }: { readonly outputDir: string | undefined; readonly inputs: CheckedIds['inputs'] },
): Promise<
  Fact & {
    readonly clock?: OtherClock;
  }
> {
  const nights = await nightsFor(job, context.nights);
  const { dir } = job.output;
  const shown = shownPath(dir, process.cwd());
  const home = await openHome(job, context);
  await home.requireOwn();
  const standing = await standingIfAny(home.place, context.clock.now());
  const begun = standing !== undefined && 'manifest' in standing ? standing.manifest : standing?.start;
  if (begun !== undefined) {
    const now = inputs === undefined ? begun.inputs : await fingerprintInputs(inputs);
    requireSame(home.name, begun, { job: jobShape(job), inputs: now });
  }
  await requireFollowable({ job, outputDir: outputDir ?? job.output.dir }, context);
  const holder = begun === undefined ? [] : holderOf(standing);
  if (!isBucketAddress(dir)) {
    const exists = await probeFolder(dir, 'hard');
    await nights?.requireLatestFree(job, context);
    return { fact: `${shown} can be ${exists ? 'written' : 'created'}`, warnings: holder };
  }
  const { store } = home.place;
  const { canReplace, canRemove, putAtMs } = await probeStore(store, dir);
  const clock = putAtMs === undefined ? {} : { clock: { aheadMs: context.clock.now() - putAtMs, of: 'the store' } };
  await nights?.requireLatestFree(job, context);
  return {
    fact: `${shown} can be written; a second put of the same name was refused`,
    warnings: [
      ...holder,
      ...(canRemove ? [] : ['Delete is not allowed: the probe stays in .run/probe/']),
      ...(canReplace ? [] : ['objects cannot be replaced by their ETag: a damaged part needs verify --repair']),
    ],
    ...clock,
  };
}

/** Who works on an export: a run would end at once. */
function holderOf(standing: ExportStanding | undefined): string[] {
  if (standing === undefined || 'manifest' in standing) return [];
  const { owner, fleet } = standing;
  if (owner === undefined || fleet !== undefined) return [];
  return [`process ${owner.pid} on ${owner.host} works on it: another run would end with exit 11`];
}
