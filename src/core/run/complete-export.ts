import { partExtension, pathIn } from '../../places/export/export-folder.ts';
import { idTables } from '../records/id-tables.ts';
import { tableNames } from '../records/columns.ts';
import { extensions, formats } from '../formats/sink.ts';
import type { Reads } from '../../places/files/disk.ts';
import { otherDialect } from '../job/job-dialect.ts';
import { shapeOfComplete } from './job-shape.ts';
import type { Job } from '../job/job-schema.ts';
import {
  type ExportStart,
  type Commit,
  type Counts,
  type FileFacts,
  type Notes,
  limitOf,
  type SomeIds,
  type Spent,
} from '../../places/export/export-facts.ts';
import { tableFacts, committedCounts, driftOf, notesOf, proofsOf } from '../../places/scratch/commit-sums.ts';
import type { Manifest, NewManifest } from '../../places/export/manifest.ts';
import { tablesOf } from '../work/tables-of.ts';
import { ExportError } from '../../lib/export-error.ts';
import { type AccountFigures, accountFigures, manifestFigures } from './history/run-figures.ts';
import type { InvalidSample, TakenColumn } from '../ids/read/list-form.ts';
import type { DriftCount } from '../records/drift.ts';
import type { PublishedTables } from '../work/run-observer.ts';

/** Progress and cost of an export. `read = exported + carried + missing + invalid + duplicate + failed + pending`. */
export interface ExportAccount extends AccountFigures {
  readonly folder: string;
  readonly counts: Counts;
  readonly parts: number;
  readonly files: readonly FileFacts[];
  /** Calls sent, and credits that these may have cost, over all runs of this export. */
  readonly calls: number;
  readonly credits: number;
  readonly drift: readonly DriftCount[];
  readonly notes: Notes;
  /** Of an export with `output.proofs`. */
  readonly proofs?: Manifest['proofs'];
  /** Ids that are read at most; absent for an export of all ids. */
  readonly limit?: SomeIds;
  /** Of an export with a base, when it is complete. */
  readonly base?: Manifest['base'];
  readonly setAside?: Manifest['setAside'];
}

export interface ExportOutcome {
  /** `already`: it was complete before, and nothing was done. */
  readonly state: 'complete' | 'already' | 'unfinished';
  readonly account: ExportAccount;
  /** Calls that this run sent. */
  readonly callsOfRun: number;
  /** Credits that these may have cost. */
  readonly creditsOfRun: number;
  readonly elapsedMs: number;
  /** Where the ids of inputs with columns were read from, and the first entries that are not ids; none for `already`. */
  readonly columns: readonly TakenColumn[];
  readonly invalidSamples: readonly InvalidSample[];
  /** Tables of the lake, where the export was published or is. */
  readonly lake?: PublishedTables;
  /** Why an unfinished export stopped, or why what follows a complete one was not done. */
  readonly error?: ExportError;
}

/** The account of a complete export. */
export function accountOf(folder: string, manifest: Manifest): ExportAccount {
  const { counts, parts, files, calls, credits, drift, notes, proofs, base, setAside } = manifest;
  const figures = manifestFigures(manifest);
  const account = { folder, counts, parts, files, calls, credits, drift, notes };
  return {
    ...account,
    ...figures,
    ...limited(limitOf(manifest.job)),
    ...(proofs === undefined ? {} : { proofs }),
    ...(base === undefined ? {} : { base }),
    ...(setAside === undefined ? {} : { setAside }),
  };
}

function limited(limit: SomeIds | undefined): Pick<ExportAccount, 'limit'> {
  return limit === undefined ? {} : { limit };
}

/** The outcome where an export was complete before. */
export function alreadyComplete(folder: string, manifest: Manifest): ExportOutcome {
  return {
    state: 'already',
    account: accountOf(folder, manifest),
    callsOfRun: 0,
    creditsOfRun: 0,
    elapsedMs: 0,
    columns: [],
    invalidSamples: [],
  };
}

/** The account of an export whose manifest is not written. */
export function unfinishedAccount({
  folder,
  commits,
  read,
  fetched,
  calls,
  credits,
  limit,
}: Spent & {
  readonly folder: string;
  readonly commits: readonly Commit[];
  /** Entries read so far, and ids whose answers are kept and lie in no part. */
  readonly read: number;
  readonly fetched: number;
  readonly limit?: SomeIds | undefined;
}): ExportAccount {
  const counts = committedCounts(commits);
  const figures = accountFigures({ counts, read, fetched });
  const proofs = proofsOf(commits);
  return {
    folder,
    counts: { ...counts, read: counts.read + figures.pending },
    ...figures,
    parts: commits.length,
    files: commits.flatMap(({ files }) => files),
    calls,
    credits,
    drift: driftOf(commits),
    notes: notesOf(commits),
    ...(proofs === undefined ? {} : { proofs }),
    ...limited(limit),
  };
}

/** Where files of parts lie, and how their names end. */
const partFolders = [
  ...formats.flatMap((format) =>
    tableNames.map((table) => ({ name: `${format}/${table}`, extension: extensions[format] })),
  ),
  ...idTables.map(({ name }) => ({ name, extension: 'csv' })),
];

/** The files in a folder that are named as parts of an export are, relative to it. */
export async function partFiles(files: Reads, folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const { name, extension } of partFolders) {
    for (const file of await files.list(pathIn(folder, name))) {
      const path = `${name}/${file}`;
      if (partExtension(file) === extension && (await files.sizeOf(pathIn(folder, path))) !== 'folder')
        found.push(path);
    }
  }
  return found;
}

/** Whether a name, relative to an export, is that of a part's file. */
export function isPartFile(name: string): boolean {
  const at = name.lastIndexOf('/');
  const extension = partExtension(name.slice(at + 1));
  return partFolders.some((folder) => folder.name === name.slice(0, at) && folder.extension === extension);
}

export interface CompleteExport {
  readonly job: Job;
  readonly start: ExportStart;
  readonly commits: readonly Commit[];
  /** Calls sent, and credits that these may have cost, over all runs. */
  readonly calls: number;
  readonly credits: number;
  readonly version: string;
  readonly base?: Manifest['base'];
  readonly rebuilt?: Manifest['rebuilt'] | undefined;
  readonly setAside?: Manifest['setAside'];
  readonly sorted?: readonly string[] | undefined;
}

/** The manifest of an export whose every part is committed. */
export function manifestOf(done: CompleteExport): NewManifest {
  const { job, start, commits, calls, credits, version } = done;
  const folder = job.output.dir;
  const dialect = otherDialect(job)?.name;
  const account = unfinishedAccount({ folder, commits, read: 0, fetched: 0, calls, credits });
  return {
    program: { name: 'asset-export', version },
    job: shapeOfComplete(start.job),
    inputs: start.inputs,
    counts: account.counts,
    calls: account.calls,
    credits: account.credits,
    parts: commits.length,
    tables: Object.fromEntries(
      tablesOf(job, start).map(({ table }) => [table.name, tableFacts(table, account.files, commits)]),
    ),
    files: rangedFiles(commits),
    drift: [...account.drift],
    notes: account.notes,
    ...(account.proofs === undefined ? {} : { proofs: account.proofs }),
    commits: [...commits],
    ...(done.base === undefined ? {} : { base: done.base }),
    ...(done.rebuilt === undefined ? {} : { rebuilt: done.rebuilt }),
    ...(done.sorted === undefined ? {} : { sorted: [...done.sorted] }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(done.setAside === undefined ? {} : { setAside: done.setAside }),
    // 0 is the start of what an older version made without one.
    ...(start.startedAtMs === 0 ? {} : { startedAtMs: start.startedAtMs }),
  };
}

/** The commits of a complete export: what its manifest was made of. */
export function manifestCommits({ commits, files }: Pick<Manifest, 'commits' | 'files'>): Commit[] {
  return commits.map((commit) => ({
    ...commit,
    inputBytes: 0,
    files: files
      .filter(({ part }) => part === commit.part)
      .map(({ path, format, table, part, rows, bytes, sha256 }) => ({
        path,
        format,
        table,
        part,
        rows,
        bytes,
        sha256,
      })),
  }));
}

/** The files with the range of entries that each covers, from 1. */
function rangedFiles(commits: readonly Commit[]): Manifest['files'] {
  let last = 0;
  return commits.flatMap(({ counts, files }) => {
    const first = last + 1;
    last += counts.read;
    return files.map((file) => ({ ...file, first, last }));
  });
}
