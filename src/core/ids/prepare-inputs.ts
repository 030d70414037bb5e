import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Job } from '../job/job-schema.ts';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { type Disk, writeWhole, type OpenFile } from '../../places/files/disk.ts';
import type { EntryBlock, Entries } from './entries.ts';
import { fingerprintInputs, type InputFingerprint } from './read/input-bytes.ts';
import { expandInputs, type IdInput, type FindRemote } from './id-input.ts';
import { type TakenColumn, entriesLookedAt } from './read/list-form.ts';
import { surveyList, readIds, type ReadIdsOptions, type ReadingRules } from './read/read-ids.ts';
import { HashSet128 } from '../../lib/hash/hash-set-128.ts';
import { stat } from 'node:fs/promises';

export interface PreparedInputs {
  readonly inputs: readonly IdInput[];
  /** Size and hash of each, of its bytes as they lie on disk. */
  readonly fingerprints: readonly InputFingerprint[];
  readonly inputBytes: number;
  /** Where the ids of inputs with columns are read from. */
  readonly columns: readonly TakenColumn[];
  /** Gives the entries from a copy of them, where the inputs are not there. */
  readonly kept?: () => AsyncIterable<EntryBlock>;
}

export interface InputSources {
  readonly job: Job;
  /** Folder at which relative patterns start. */
  readonly idsFolder: string;
  /** `output.dir` with its `{date}`: patterns pass over what lies there; that of `job` unless given, null where none is written. */
  readonly outputDir?: string | null | undefined;
  /** Told of files that are not read. */
  readonly onNote?: (note: string) => void;
  readonly files: Disk;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Aborted: reading from stdin ends, even while its writer hangs. */
  readonly stop?: AbortSignal;
  /** Where ids from stdin are kept, so that they can be read again: a folder of an export. */
  readonly folder: string;
  /** Finds files of ids in buckets. They are copied to the folder, */
  readonly findRemote?: FindRemote;
  /** or read where they are, if their format can be read from the beginning. */
  readonly streams?: boolean;
}

/**
 * Finds and hashes the inputs, before anything is asked. Ids from stdin are kept in the export until it is complete.
 * @throws {ExportError} `input`, or the reason of `stop`
 */
export async function prepareInputs(sources: InputSources): Promise<PreparedInputs> {
  const { inputs, columns } = await findInputs(sources);
  const fingerprints = await fingerprintInputs(inputs);
  return { inputs, fingerprints, columns, inputBytes: fingerprints.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Finds the inputs and their columns, for who hashes them as they are read. @throws {ExportError} `input`, or the reason of `stop` */
export async function findInputs(sources: InputSources): Promise<Pick<PreparedInputs, 'inputs' | 'columns'>> {
  const { job, idsFolder, onNote } = sources;
  const outputDir = sources.outputDir === null ? undefined : (sources.outputDir ?? job.output.dir);
  const stdinPath = job.ids.from.includes('-') ? await keepStdin(sources) : undefined;
  const { format, from } = job.ids;
  const { findRemote } = sources;
  const inputs = await expandInputs({ from, format, baseDir: idsFolder, stdinPath, findRemote, outputDir, onNote });
  const columns: TakenColumn[] = [];
  for (const [index, input] of inputs.entries()) {
    const local = await localInput(input, index, sources);
    const { form, looked } = await surveyList({ ...local, name: typedName(local, idsFolder) }, job.ids);
    inputs[index] = { ...local, form, ...(looked === undefined ? {} : { looked }) };
    if (form.taken !== undefined) columns.push({ ...form.taken, input: local.name });
  }
  if (job.ids.column !== undefined && columns.length === 0)
    onNote?.(`--id-column ${job.ids.column} is not used: no list has columns`);
  return { inputs, columns };
}

/** A file as a shell finds it: names in a job file start at its folder, not where the user stands. */
function typedName({ name, path }: IdInput, idsFolder: string): string {
  return idsFolder !== process.cwd() && resolve(idsFolder, name) === path ? path : name;
}

/** Copies an input that is in a bucket, unless it is read there. */
async function localInput(input: IdInput, index: number, sources: InputSources): Promise<IdInput> {
  const { files, folder, streams = false, stop } = sources;
  const { read, ...here } = input;
  if (read === undefined || (streams && input.format !== 'parquet')) return input;
  const path = pathIn(folder, `${exportPaths.idCopies}/${index}`);
  await files.makeFolder(pathIn(folder, exportPaths.idCopies));
  const file = await files.open(path, 'create');
  try {
    for await (const bytes of read()) {
      stop?.throwIfAborted();
      await file.write(bytes);
    }
  } finally {
    await file.close();
  }
  return { ...here, path };
}

/** Whether ids come from where only a run that holds the export can keep them. */
export function areKept({ ids }: Pick<Job, 'ids'>): boolean {
  return ids.from.some((name) => name === '-' || isBucketAddress(name));
}

async function keepStdin({ files, stdin, stop, folder }: InputSources): Promise<string> {
  const path = pathIn(folder, exportPaths.stdin);
  await files.makeFolder(pathIn(folder, exportPaths.run));
  const keep = async (file: OpenFile): Promise<void> => {
    const write = async (source: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const bytes of source) await file.write(bytes);
    };
    // It destroys a stream that it stops to read: one left open would keep the program from ending.
    await pipeline(stdin, write, { signal: stop });
  };
  try {
    await writeWhole(files, { path }, keep);
  } catch (error) {
    stop?.throwIfAborted();
    throw error;
  }
  return path;
}

/** Marks every occurrence of a valid id except the first, over all inputs. Blocks and their order stay as they are. */
export async function* markDuplicates(
  blocks: AsyncIterable<EntryBlock>,
  seen: Pick<HashSet128, 'addAll'>,
): AsyncGenerator<Entries, void, void> {
  for await (const { entries, hashes } of blocks) {
    const isNew = seen.addAll(hashes);
    let hash = 0;
    for (let index = 0; index < entries.length; index += 1) {
      if (!entries.isValid(index)) continue;
      if (isNew[hash] === 0) entries.markDuplicate(index);
      hash += 1;
    }
    yield entries;
  }
}

/** All ids of a job in the order of the inputs, with duplicates marked. Reports no progress. */
export function entriesOf(
  { ids }: Pick<Job, 'ids'>,
  { inputs, fingerprints, kept }: PreparedInputs,
  {
    onInvalid,
    seen = new HashSet128(),
  }: {
    readonly onInvalid?: ReadIdsOptions['onInvalid'];
    /** Finds repeated ids. */
    readonly seen?: Pick<HashSet128, 'addAll'>;
  } = {},
): AsyncIterable<Entries> {
  const read = kept?.() ?? readIds(inputs, { ...ids, expected: fingerprints, onInvalid });
  return markDuplicates(read, seen);
}

/** Reads the first entries of an input. @throws {ExportError} `input` when it cannot be read */
export async function firstEntries(
  input: IdInput,
  rules: ReadingRules,
): Promise<{
  /** `entriesLookedAt`, or all where there are fewer. */
  readonly entries: number;
  /** Those of them that are ids, in their order. */
  readonly ids: readonly string[];
}> {
  let entries = 0;
  const ids: string[] = [];
  for await (const { entries: block } of readIds([input], { ...rules, limit: entriesLookedAt })) {
    entries += block.length;
    for (let index = 0; index < block.length; index += 1) {
      if (block.isValid(index)) ids.push(block.at(index).text);
    }
  }
  return { entries, ids };
}

/** The size of an input as it lies on disk or in its bucket. */
export async function bytesOfInput({ bytes, path }: IdInput): Promise<number> {
  return bytes ?? (await stat(path)).size;
}

/** A base58 id is 32 bytes that nothing compresses; its row has something else. */
const leastBytes = 34;

/**
 * About how many entries an input has: what was not looked at takes as many bytes an entry as what was.
 * @param bytes as it lies on disk
 */
export function aboutEntries({ looked, compression }: IdInput, bytes: number): number {
  if (looked?.isWhole === true) return looked.entries;
  const isSeen = looked !== undefined && compression === 'none' && looked.entries > 0;
  return Math.round(bytes / (isSeen ? looked.bytes / looked.entries : leastBytes));
}

/** The same of all inputs. @param limit of entries, where there is one */
export function aboutEntriesIn(
  { inputs, fingerprints }: Pick<PreparedInputs, 'inputs' | 'fingerprints'>,
  limit = Number.POSITIVE_INFINITY,
): number {
  const all = inputs.map((input, index) => aboutEntries(input, fingerprints[index]?.bytes ?? 0));
  return Math.min(
    limit,
    all.reduce((sum, each) => sum + each, 0),
  );
}
