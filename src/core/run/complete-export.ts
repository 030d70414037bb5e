import { partExtension, pathIn } from '../../places/export/export-folder.ts';
import { idTables } from '../records/id-tables.ts';
import { tableNames } from '../records/columns.ts';
import { extensions, formats } from '../formats/sink.ts';
import type { Reads } from '../../places/files/disk.ts';
import { otherDialect } from '../job/job-dialect.ts';
import { shapeOfComplete } from './job-shape.ts';
import type { Job } from '../job/job-schema.ts';
import type { ExportStart, Commit } from '../../places/export/export-facts.ts';
import { tableFacts } from '../../places/scratch/commit-sums.ts';
import type { Manifest, NewManifest } from '../../places/export/manifest.ts';
import { unfinishedAccount } from './export-outcome.ts';
import { tablesOf } from '../work/tables-of.ts';

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
