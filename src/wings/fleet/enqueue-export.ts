import { cutSlices, type CutSlice } from '../../core/ids/batch-ids.ts';
import {
  markDuplicates,
  aboutEntries,
  bytesOfInput,
  findInputs,
  type PreparedInputs,
} from '../../core/ids/prepare-inputs.ts';
import { fingerprintInputs, type InputFingerprint } from '../../core/ids/read/input-bytes.ts';
import { readIds } from '../../core/ids/read/read-ids.ts';
import { type InvalidSample, sampling, type TakenColumn } from '../../core/ids/read/list-form.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { thenCleanUp } from '../../lib/end-work.ts';
import { ExportError } from '../../lib/export-error.ts';
import { byteSize, plural } from '../../lib/format-text.ts';
import { HashSet128 } from '../../lib/hash/hash-set-128.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import { homeAt, openHomePlace, bucketIds } from '../../core/run/homes/open-home.ts';
import { type Following, requireFollowable, throwAwayFollowed } from '../../core/run/nights.ts';
import type { HomePlace } from '../../core/run/homes/home-place.ts';
import { requireSameSlices } from '../../core/run/homes/open-slices.ts';
import { type EnqueuedSlice, readStart, type HomeStart, startBody } from '../../core/run/homes/home-start.ts';
import { fleetShape, jobShape, requireSame } from '../../core/run/job-shape.ts';
import { probeStore } from '../../places/objects/open-objects.ts';
import { requireFleetHome } from './fleet-home.ts';
import { isDeepStrictEqual } from 'node:util';
import { sliceNames } from '../../places/log/slice-log.ts';
import { IdRows } from '../../core/work/flatten-batch.ts';
import { openTableFile } from '../../core/work/part-build.ts';
import { idsTable } from '../../core/records/id-tables.ts';
import type { Disk } from '../../places/files/disk.ts';
import { type ObjectStore, inTurns } from '../../places/objects/object-store.ts';
import { unfinishedFile } from '../../places/scratch/part-file.ts';
import { totalmem } from 'node:os';

export interface EnqueueRequest {
  readonly job: Job;
  /** Folder at which relative patterns of `ids.from` start. */
  readonly idsFolder: string;
  /** Throw away what is there. */
  readonly fresh: boolean;
}

export interface EnqueueContext
  extends Following,
    Pick<ExportContext, 'files' | 'clock' | 'random' | 'openStore' | 'stdin' | 'stop' | 'abort'> {
  readonly onProgress: (progress: EnqueueProgress) => void;
  /** Bytes of memory that this process may use; the system says so unless given. */
  readonly memoryLimit?: number;
  /** Told of files that are not read. */
  readonly onNote?: (note: string) => void;
}

export interface EnqueueProgress {
  /** Entries that were read. */
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
}

/**
 * Reads all ids, marks duplicates over all of them, and puts the slices of an export into its bucket, for workers to make. Again: puts what
 * is missing, and changes nothing else.
 * @throws {ExportError} `input` when the ids are not those that the export began with; `usage` when duplicates take too much memory
 */
export async function enqueueExport(request: EnqueueRequest, given: EnqueueContext): Promise<Enqueued> {
  const { job } = request;
  // Asked of the system once: it is compared with at every block of ids.
  const context = { ...given, memoryLimit: given.memoryLimit ?? memoryLimit() };
  const { files } = context;
  requireFleetHome(job, 'enqueue');
  const place = await openHomePlace(job, context);
  await homeAt(place).requireOwn();
  await requireFollowable({ job, outputDir: job.output.dir }, context);
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

/** A context that says how much memory there is. */
type KnownContext = EnqueueContext & { readonly memoryLimit: number };

/** Where slices are written before they are put. */
function folderOf({ scratch }: HomePlace): string {
  return pathIn(scratch, `${exportPaths.run}/enqueue`);
}

async function enqueueLocked(place: HomePlace, request: EnqueueRequest, context: KnownContext): Promise<Enqueued> {
  const { job, fresh } = request;
  const home = homeAt(place);
  const findRemote = bucketIds(job, context);
  const found = await findInputs({ ...request, ...context, folder: place.scratch, findRemote, streams: true });
  const requireRoom = async (): Promise<void> => {
    requireMemory(await aboutEntriesOf(found.inputs, job.ids.limit), context);
  };
  if (fresh || (await home.isThrowingAway())) {
    await requireRoom();
    await throwAwayFollowed({ job, outputDir: job.output.dir }, context, () =>
      home.throwAway({ inputs: found.inputs, stop: context.stop }),
    );
  }
  const manifest = await home.readManifest();
  // Of a complete export nothing else is read: in a bucket without Delete an old start stays.
  const begun = manifest === undefined ? await readStart(place) : undefined;
  const before = manifest ?? begun;
  if (before !== undefined) {
    const shape = manifest === undefined ? fleetShape(job) : jobShape(job);
    requireSame(place.address, before, { job: shape, inputs: await fingerprintInputs(found.inputs) });
  }
  if (begun !== undefined) requireSameSlices(place.address, begun, place.shape.entriesPerSlice);
  const { columns } = found;
  if (manifest !== undefined) return { ...ofManifest(manifest), columns };
  const missing = begun?.slices && new Set(await missingSlices(place.store, begun.slices));
  if (begun?.slices !== undefined && missing?.size === 0)
    return { ...unread, ...ofSlices(begun.slices, job), state: 'already', columns };

  await requireRoom();
  await probeStore(place.store, place.address);
  const made = await makeSlices({ place, found, request, missing }, context);
  const inputs = made.fingerprints;
  const start = { job: fleetShape(job), inputs, startedAtMs: context.clock.now() };
  const { entriesPerSlice } = place.shape;
  const entries = made.slices.reduce((sum, each) => sum + each.entries, 0);
  await putStart(place, { ...start, entriesPerSlice, entries, slices: made.slices });
  const { put, invalidSamples } = made;
  return { ...ofSlices(made.slices, job), state: 'enqueued', put, columns, invalidSamples };
}

const unread = { put: 0, columns: [], invalidSamples: [] };

function ofManifest({ counts, calls, credits }: Manifest): Enqueued {
  const { read, invalid, duplicate: duplicates } = counts;
  const valid = read - invalid - duplicates;
  return { ...unread, state: 'complete', slices: 0, read, valid, invalid, duplicates, calls, credits };
}

function ofSlices(slices: readonly EnqueuedSlice[], { budget }: Job) {
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
  readonly place: HomePlace;
  readonly found: Pick<PreparedInputs, 'inputs'>;
  readonly request: EnqueueRequest;
  /** Undefined: none is known to be there. */
  readonly missing: ReadonlySet<number> | undefined;
}

async function makeSlices(making: Making, context: KnownContext) {
  const { place, missing } = making;
  const { files, stop } = context;
  const folder = folderOf(place);
  await files.makeFolder(folder);
  const reading = new Reading(making, context);
  const slices: EnqueuedSlice[] = [];
  let put = 0;
  const writer = new SliceWriter(
    files,
    folder,
    making.found.inputs.map(({ name }) => name),
  );
  // A slice is put while the next one is written.
  let putting: Promise<void> = Promise.resolve();
  const putOne = async (made: MadeSlice): Promise<void> => {
    await putSlice(place.store, made);
    await files.remove(made.file);
  };
  try {
    for await (const cut of cutSlices(reading.entries(), place.shape)) {
      stop.throwIfAborted();
      const made = await writer.write(cut);
      slices.push(made.facts);
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
  const { fingerprints, invalid } = reading;
  return { fingerprints, slices, put, invalidSamples: invalid };
}

/** Bytes that a table of ids takes, each. */
const bytesPerId = 22;

/** Of the memory that this process may use. */
const memoryShare = 0.8;

/** About how many entries the inputs have. */
async function aboutEntriesOf(inputs: PreparedInputs['inputs'], limit = Number.POSITIVE_INFINITY): Promise<number> {
  let entries = 0;
  for (const input of inputs) entries += aboutEntries(input, await bytesOfInput(input));
  return Math.min(entries, limit);
}

/** Duplicates are found in a table of all ids. @throws {ExportError} `usage` where it would not fit */
function requireMemory(ids: number, { memoryLimit: limit }: KnownContext): void {
  const need = ids * bytesPerId;
  if (need <= memoryShare * limit) return;
  throw new ExportError(
    'usage',
    `enqueue needs about ${byteSize(need)} of memory to find duplicates among ${plural(ids, 'id')}, and may use ${byteSize(memoryShare * limit)}: 80 % of ${byteSize(limit)}`,
    {
      todo: 'Run it where there is more memory, or cut the list into several exports. Workers need no more than before.',
    },
  );
}

/** Reads the ids, and marks duplicates over all of them. */
class Reading {
  readonly fingerprints: InputFingerprint[] = [];
  readonly invalid: InvalidSample[] = [];
  slices = 0;
  readonly #seen = new HashSet128();
  readonly #making: Making;
  readonly #context: KnownContext;

  constructor(making: Making, context: KnownContext) {
    this.#making = making;
    this.#context = context;
  }

  entries() {
    return markDuplicates(this.#read(), this.#seen);
  }

  async *#read() {
    const { found, request } = this.#making;
    const { stop, onProgress } = this.#context;
    const onFingerprint = (fingerprint: InputFingerprint) => this.fingerprints.push(fingerprint);
    const onInvalid = sampling(this.invalid);
    let entries = 0;
    for await (const block of readIds(found.inputs, { ...request.job.ids, onFingerprint, onInvalid })) {
      stop.throwIfAborted();
      entries += block.entries.length;
      // The estimate may be too low, and a stream has none.
      requireMemory(this.#seen.size, this.#context);
      onProgress({ entries, slices: this.slices });
      yield block;
    }
  }
}

/**
 * Says in the bucket which slices there are. It comes after them: what it names is there. An export that a run began keeps its
 * start, and gets the slices.
 */
async function putStart(place: HomePlace, start: Omit<HomeStart, 'version' | 'encoding'>): Promise<void> {
  const { store, address } = place;
  while ((await store.putNew(sliceNames.start, startBody(start))) === 'taken') {
    const tag = (await store.look(sliceNames.start))?.tag;
    const begun = await readStart(place);
    if (begun === undefined || tag === undefined) continue;
    requireSame(address, begun, start);
    requireSameSlices(address, begun, start.entriesPerSlice);
    const { entries, slices } = start;
    if (begun.slices !== undefined) {
      if (isDeepStrictEqual(begun.slices, slices)) return;
      throw new ExportError('damaged', `${address}/${sliceNames.start} names other slices of the same ids`, {
        todo: 'Another version of asset-export wrote it: use that one, or start over with --fresh.',
      });
    }
    if ((await store.replace(sliceNames.start, startBody({ ...begun, entries, slices }), tag)) === 'put') return;
  }
}

/** A slice that was written on this disk and is not in the bucket yet. */
interface MadeSlice {
  readonly slice: number;
  readonly facts: EnqueuedSlice;
  readonly file: string;
}

/** Writes the entries of a slice into a local file: the table `ids`, as each part of an export keeps its own. */
class SliceWriter {
  readonly #files: Disk;
  readonly #folder: string;
  readonly #rows: IdRows;

  /** @param folder where files are made @param sources names of the inputs */
  constructor(files: Disk, folder: string, sources: readonly string[]) {
    this.#files = files;
    this.#folder = folder;
    this.#rows = new IdRows(sources);
  }

  async write({ slice, firstPart, entries }: CutSlice): Promise<MadeSlice> {
    const { file, encoder } = await openTableFile(
      {
        files: this.#files,
        folder: this.#folder,
        compression: {},
        escapeFormulas: false,
        csvDialect: 'rfc4180',
      },
      { format: 'ids', table: idsTable, part: slice },
    );
    const counts = { entries: 0, valid: 0, invalid: 0, duplicate: 0, calls: 0 };
    try {
      for await (const block of entries()) {
        if (block.length > 0) await encoder.write(this.#rows.of(block));
        counts.entries += block.length;
        const valid = block.validBetween(0, block.length);
        if (valid > 0) counts.calls += 1;
        for (let index = 0; index < block.length; index += 1) counts[block.state(index)] += 1;
      }
      await encoder.end();
      const { path, bytes, sha256 } = await file.finish();
      const facts = { firstPart, ...counts, ids: { bytes, sha256 } };
      return { slice, facts, file: unfinishedFile(this.#folder, path) };
    } catch (error) {
      await file.discard();
      throw error;
    }
  }
}

/** Puts what is not there. What an interrupted `enqueue` left of other ids is replaced. */
async function putSlice(store: ObjectStore, { slice, facts: { ids }, file }: MadeSlice): Promise<void> {
  const name = sliceNames.ids(slice);
  const body = { file, ...ids };
  const isTaken = (await store.putNew(name, body)) === 'taken';
  if (isTaken && !(await isThere(store, name, ids))) await store.put(name, body);
}

async function isThere(store: ObjectStore, name: string, facts: EnqueuedSlice['ids']): Promise<boolean> {
  const found = await store.look(name);
  return found?.bytes === facts.bytes && found.sha256 === facts.sha256;
}

/** The slices that are not in the bucket as they were written. */
async function missingSlices(store: ObjectStore, slices: readonly EnqueuedSlice[]): Promise<number[]> {
  const missing: number[] = [];
  await inTurns([...slices.entries()], async ([slice, { ids }]) => {
    if (!(await isThere(store, sliceNames.ids(slice), ids))) missing.push(slice);
  });
  return missing.sort((a, b) => a - b);
}

/** The bytes that this process may use: those of its container, or of the machine. */
function memoryLimit(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
