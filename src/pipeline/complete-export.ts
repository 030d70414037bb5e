import type { Table } from '../assets/table.ts';
import type { Job } from '../job/job-schema.ts';
import type { ExportStart } from '../store/checkpoint.ts';
import type { Commit } from '../store/export-facts.ts';
import type { FileStore } from '../store/file-store.ts';
import { type Manifest, readManifest, writeManifest } from '../store/manifest.ts';
import { ExportError } from '../lib/export-error.ts';
import { unfinishedAccount } from './export-outcome.ts';
import { tablesOf } from './tables-of.ts';

export interface CompleteExport {
  readonly files: FileStore;
  readonly job: Job;
  readonly start: ExportStart;
  readonly commits: readonly Commit[];
  /** Calls sent, and credits that these may have cost, over all runs. */
  readonly calls: number;
  readonly credits: number;
  readonly version: string;
}

/** Writes the manifest of an export whose every part is committed, and reads it back. */
export async function completeExport(done: CompleteExport): Promise<Manifest> {
  const { files, job, start, commits, calls, credits, version } = done;
  const folder = job.output.dir;
  const account = unfinishedAccount({ folder, commits, read: 0, calls, credits });
  const { rowsPerPart } = job.output;
  await writeManifest(files, folder, {
    program: { name: 'asset-export', version },
    job: start.job,
    inputs: start.inputs,
    counts: account.counts,
    calls: account.calls,
    credits: account.credits,
    parts: commits.length,
    tables: Object.fromEntries(
      tablesOf(job, start.startedAtMs).map(({ table }) => [
        table.name,
        { rows: rowsOf(table, account.files), columns: columnsOf(table) },
      ]),
    ),
    files: commits.flatMap(({ part, counts, files }) =>
      files.map((file) => ({ ...file, first: part * rowsPerPart + 1, last: part * rowsPerPart + counts.read })),
    ),
    drift: [...account.drift],
    notes: account.notes,
    commits: [...commits],
    ...(job.output.fetchedAt ? { startedAtMs: start.startedAtMs } : {}),
  });
  const manifest = await readManifest(files, folder);
  if (manifest === undefined)
    throw new ExportError('cannotWrite', `the manifest of ${folder} is gone after it was written`);
  return manifest;
}

function columnsOf(table: Table): Manifest['tables'][string]['columns'] {
  return table.columns.map(({ name, type, nullable, from, list }) => ({
    name,
    type,
    nullable,
    ...(from === undefined ? {} : { from }),
    ...(list === undefined ? {} : { list }),
  }));
}

/** Rows of a table: those of the first format that has it, since every format holds the same. */
function rowsOf(
  table: Table,
  files: Manifest['files'] | readonly { table: string; format: string; rows: number }[],
): number {
  const mine = files.filter((file) => file.table === table.name);
  return mine.filter((file) => file.format === mine[0]?.format).reduce((sum, { rows }) => sum + rows, 0);
}
