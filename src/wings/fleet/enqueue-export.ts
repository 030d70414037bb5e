import { cutSlices } from '../../core/ids/cut-slices.ts';
import { markWithinMemory } from '../../core/ids/duplicates/mark-within-memory.ts';
import { fingerprintInputs, type InputFingerprint } from '../../core/ids/fingerprint-inputs.ts';
import { findInputs, type PreparedInputs } from '../../core/ids/prepare-inputs.ts';
import { readIds } from '../../core/ids/read/read-ids.ts';
import { type InvalidSample, sampling, type TakenColumn } from '../../core/ids/read/reading.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { thenCleanUp } from '../../lib/clean-up.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import { bucketHome } from '../../core/run/homes/bucket-home.ts';
import type { BucketPlace } from '../../core/run/homes/bucket-place.ts';
import { requireSameSlices } from '../../core/run/homes/bucket-slices.ts';
import { type BucketStart, type PackedSlice, readBucketStart } from '../../core/run/homes/bucket-start.ts';
import { bucketIds } from '../../core/run/homes/bucket-ids.ts';
import { openBucketPlace } from '../../core/run/homes/open-home.ts';
import { jobShape, requireSame } from '../../core/run/job-shape.ts';
import { probeStore } from '../../places/objects/probe-store.ts';
import { requireFleetHome } from './fleet-home.ts';
import { type MadeSlice, missingSlices, packSlice, putSlice } from './packed-slices.ts';
import { putStart } from './put-start.ts';

export interface EnqueueRequest {
  readonly job: Job;
  /** Folder at which relative patterns of `ids.from` start. */
  readonly idsFolder: string;
  /** Throw away what is there. */
  readonly fresh: boolean;
  /** Memory for the table of duplicates; above it, hashes go to the scratch folder. */
  readonly mostBytes: number;
}

export interface EnqueueContext
  extends Pick<ExportContext, 'files' | 'clock' | 'random' | 'openStore' | 'stdin' | 'stop' | 'abort'> {
  readonly onProgress: (progress: EnqueueProgress) => void;
  /** Told of files that are not read. */
  readonly onNote?: (note: string) => void;
}

export interface EnqueueProgress {
  readonly step: 'reading' | 'finding duplicates' | 'reading again';
  /** Entries that were read in this step. */
  readonly entries: number;
  /** Slices that are in the bucket. */
  readonly slices: number;
}

export interface Enqueued {
  /** `already`: nothing was missing. `complete`: the export has its manifest. */
  readonly state: 'enqueued' | 'already' | 'complete';
  /** Slices that this command put. */
  readonly put: number;
  readonly slices: number;
  readonly read: number;
  readonly valid: number;
  readonly invalid: number;
  readonly duplicates: number;
  /** Of the whole export, when nothing fails. */
  readonly calls: number;
  readonly credits: number;
  readonly columns: readonly TakenColumn[];
  readonly invalidSamples: readonly InvalidSample[];
  /** Whether the hashes of ids went to the disk. */
  readonly spilled: boolean;
}

/**
 * Reads all ids, marks duplicates over all of them, and puts the slices of an export into its bucket, for workers to make. Again: puts what
 * is missing, and changes nothing else.
 * @throws {ExportError} `input` when the ids are not those that the export began with
 */
export async function enqueueExport(request: EnqueueRequest, context: EnqueueContext): Promise<Enqueued> {
  const { job } = request;
  const { files } = context;
  requireFleetHome(job, 'enqueue');
  const place = await openBucketPlace(job, context);
  await bucketHome(place).requireOwn();
  await files.makeFolder(pathIn(place.scratch, exportPaths.run));
  const lock = await files.takeLock(place.scratch);
  return thenCleanUp({
    work: () => enqueueLocked(place, request, context),
    cleanUp: [
      () => files.remove(folderOf(place)),
      () => files.remove(pathIn(place.scratch, exportPaths.stdin)),
      () => files.remove(pathIn(place.scratch, exportPaths.idCopies)),
      () => lock.release(),
    ],
  });
}

/** Where slices are packed and hashes spilled. */
function folderOf({ scratch }: BucketPlace): string {
  return pathIn(scratch, `${exportPaths.run}/enqueue`);
}

async function enqueueLocked(place: BucketPlace, request: EnqueueRequest, context: EnqueueContext): Promise<Enqueued> {
  const { job, fresh } = request;
  const home = bucketHome(place);
  const findRemote = bucketIds(job, context);
  const found = await findInputs({ ...request, ...context, folder: place.scratch, findRemote, streams: true });
  if (fresh || (await home.isThrowingAway()))
    await home.throwAway({ inputs: found.inputs, sinks: [], stop: context.stop });
  const manifest = await home.readManifest();
  const begun = await readBucketStart(place);
  if (manifest !== undefined || begun !== undefined) await requireSameIds(place, job, { found, manifest, begun });
  const { columns } = found;
  if (manifest !== undefined) return { ...ofManifest(manifest), columns };
  const missing = begun?.slices && new Set(await missingSlices(place.store, begun.slices));
  if (begun?.slices !== undefined && missing?.size === 0)
    return { ...unread, ...ofSlices(begun.slices, job), state: 'already', columns };

  await probeStore(place.store, place.address);
  const made = await makeSlices({ place, found, request, missing }, context);
  const inputs = made.fingerprints;
  const start = { job: jobShape(job), inputs, startedAtMs: context.clock.now() };
  const { entriesPerSlice } = place.shape;
  const entries = made.slices.reduce((sum, each) => sum + each.entries, 0);
  await putStart(place, { ...start, entriesPerSlice, entries, slices: made.slices });
  const { put, spilled, invalidSamples } = made;
  return { ...ofSlices(made.slices, job), state: 'enqueued', put, spilled, columns, invalidSamples };
}

const unread = { put: 0, spilled: false, columns: [], invalidSamples: [] };

interface Began {
  readonly found: Pick<PreparedInputs, 'inputs'>;
  readonly manifest: Manifest | undefined;
  readonly begun: BucketStart | undefined;
}

async function requireSameIds(place: BucketPlace, job: Job, { found, manifest, begun }: Began): Promise<void> {
  const before = manifest ?? begun;
  const now = { job: jobShape(job), inputs: await fingerprintInputs(found.inputs) };
  if (before !== undefined) requireSame(place.address, before, now);
  if (begun !== undefined) requireSameSlices(place.address, begun, place.shape.entriesPerSlice);
}

function ofManifest({ counts, calls, credits }: Manifest): Enqueued {
  const { read, invalid, duplicate: duplicates } = counts;
  const valid = read - invalid - duplicates;
  return { ...unread, state: 'complete', slices: 0, read, valid, invalid, duplicates, calls, credits };
}

function ofSlices(slices: readonly PackedSlice[], { budget }: Job) {
  const sum = (name: 'entries' | 'valid' | 'invalid' | 'duplicate' | 'calls'): number =>
    slices.reduce((all, slice) => all + slice[name], 0);
  const calls = sum('calls');
  return {
    slices: slices.length,
    read: sum('entries'),
    valid: sum('valid'),
    invalid: sum('invalid'),
    duplicates: sum('duplicate'),
    calls,
    credits: calls * budget.creditsPerCall,
  };
}

interface Making {
  readonly place: BucketPlace;
  readonly found: Pick<PreparedInputs, 'inputs'>;
  readonly request: EnqueueRequest;
  /** Undefined: none is known to be there. */
  readonly missing: ReadonlySet<number> | undefined;
}

interface MadeSlices {
  readonly fingerprints: InputFingerprint[];
  readonly slices: PackedSlice[];
  readonly put: number;
  readonly spilled: boolean;
  readonly invalidSamples: InvalidSample[];
}

async function makeSlices(making: Making, context: EnqueueContext): Promise<MadeSlices> {
  const { place, missing } = making;
  const { files, stop } = context;
  const folder = folderOf(place);
  await files.makeFolder(folder);
  const reading = new Reading(making, context);
  const slices: PackedSlice[] = [];
  let put = 0;
  // A slice is put while the next one is packed.
  let putting: Promise<void> = Promise.resolve();
  const putOne = async (made: MadeSlice): Promise<void> => {
    await putSlice(place.store, made);
    await files.remove(pathIn(folder, `${made.slice}.ids`));
  };
  try {
    for await (const cut of cutSlices(reading.entries(), place.shape)) {
      stop.throwIfAborted();
      const made = await packSlice(files, folder, cut);
      slices.push(made.packed);
      await putting;
      reading.slices = cut.slice;
      if (missing?.has(cut.slice) === false) continue;
      put += 1;
      putting = putOne(made);
      putting.catch(() => undefined);
    }
    await putting;
  } catch (error) {
    await putting.catch(() => undefined);
    throw error;
  }
  const { fingerprints, invalid, spilled } = reading;
  return { fingerprints, slices, put, spilled, invalidSamples: invalid };
}

/** Reads the ids once, or twice when their hashes go to the disk. */
class Reading {
  readonly fingerprints: InputFingerprint[] = [];
  readonly invalid: InvalidSample[] = [];
  slices = 0;
  spilled = false;
  readonly #making: Making;
  readonly #context: EnqueueContext;

  constructor(making: Making, context: EnqueueContext) {
    this.#making = making;
    this.#context = context;
  }

  entries() {
    const { place, request } = this.#making;
    const { files, stop } = this.#context;
    return markWithinMemory(() => this.#read(), {
      files,
      stop,
      folder: pathIn(folderOf(place), 'hashes'),
      mostBytes: request.mostBytes,
      onSpill: (step) => {
        this.spilled = true;
        if (step === 'read') this.#tell('finding duplicates', 0);
      },
    });
  }

  async *#read() {
    const { found, request } = this.#making;
    const isAgain = this.spilled;
    const checks = isAgain
      ? { expected: [...this.fingerprints] }
      : {
          onFingerprint: (fingerprint: InputFingerprint) => this.fingerprints.push(fingerprint),
          onInvalid: sampling(this.invalid),
        };
    let entries = 0;
    for await (const block of readIds(found.inputs, { ...request.job.ids, ...checks })) {
      this.#context.stop.throwIfAborted();
      entries += block.entries.length;
      this.#tell(isAgain ? 'reading again' : 'reading', entries);
      yield block;
    }
  }

  #tell(step: EnqueueProgress['step'], entries: number): void {
    this.#context.onProgress({ step, entries, slices: this.slices });
  }
}
