import { FinishedExport } from '../finished/finished-export.ts';
import { createDriftCounter } from '../records/drift.ts';
import { tableByName } from '../records/columns.ts';
import { shapeTable, type TableShape } from '../records/shape-table.ts';
import type { Table } from '../records/table.ts';
import { ExportError } from '../lib/export-error.ts';
import { readCheckpoint } from '../store/checkpoint.ts';
import { type Commit, type JobShape, noCounts, noNotes, sumOf } from '../store/export-facts.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import type { FileStore } from '../store/file-store.ts';
import { lockOwner } from '../store/lock.ts';
import { type Manifest, readManifest } from '../store/manifest.ts';
import type { RunLine } from '../store/run-lines.ts';
import { readRunLines } from '../store/run-record.ts';
import { readTally } from '../store/tally.ts';

/** An export in any state, as its folder has it now. */
export interface OpenedExport {
  /** Its committed parts; of an unfinished export the manifest holds what it would if the export ended here. */
  readonly view: FinishedExport;
  readonly isComplete: boolean;
  /** Whether a process holds it. */
  readonly isHeld: boolean;
  readonly lines: readonly RunLine[];
  /** Milliseconds since 1970 UTC; undefined where a complete export does not keep it. */
  readonly startedAtMs: number | undefined;
}

/** @throws {ExportError} `usage` when there is no export in the folder, `damaged` */
export async function openAnyExport(files: FileStore, folder: string): Promise<OpenedExport> {
  const open = (await openComplete(files, folder)) ?? (await openUnfinished(files, folder));
  // A run that ends writes the manifest before it takes all else away.
  const found = open ?? (await openComplete(files, folder));
  if (found !== undefined) return found;
  throw new ExportError('usage', `${folder} is not an export: it has neither a manifest nor a checkpoint`, {
    todo: 'Name the output folder of an export (--out, output.dir).',
  });
}

async function openComplete(files: FileStore, folder: string): Promise<OpenedExport | undefined> {
  const manifest = await readManifest(files, folder);
  if (manifest === undefined) return undefined;
  const view = new FinishedExport(files, folder, manifest);
  const lines = await readRunLines(files, folder);
  return { view, isComplete: true, isHeld: false, lines, startedAtMs: manifest.startedAtMs };
}

async function openUnfinished(files: FileStore, folder: string): Promise<OpenedExport | undefined> {
  const owner = await lockOwner(folder);
  const checkpoint = await readCheckpoint(files, folder);
  if (checkpoint === undefined && owner === undefined) return undefined;
  const calls = await readTally(files, pathIn(folder, exportPaths.callCount));
  const credits = await readTally(files, pathIn(folder, exportPaths.creditCount));
  const lines = await readRunLines(files, folder);
  if ((await readManifest(files, folder)) !== undefined) return undefined;
  const { start = { job: {}, inputs: [], startedAtMs: undefined }, commits = [] } = checkpoint ?? {};
  const version = lines.findLast((line) => line.kind === 'run')?.version ?? '';
  const manifest: Manifest = {
    ...{ version: 1, program: { name: 'asset-export', version }, job: start.job, inputs: start.inputs },
    ...{ ...sumsOf(commits), calls, credits, parts: commits.length, tables: tablesOf(start.job, commits) },
    files: commits.flatMap((commit) => commit.files.map((file) => ({ ...file, first: 0, last: 0 }))),
    commits,
  };
  const { startedAtMs } = start;
  const view = new FinishedExport(files, folder, manifest);
  return { view, isComplete: false, isHeld: owner !== undefined, lines, startedAtMs };
}

function sumsOf(commits: readonly Commit[]): Pick<Manifest, 'counts' | 'notes' | 'drift'> {
  const drift = createDriftCounter();
  for (const commit of commits) drift.merge(commit.drift);
  return {
    counts: sumOf(
      noCounts,
      commits.map(({ counts }) => counts),
    ),
    notes: sumOf(
      noNotes,
      commits.map(({ notes }) => notes),
    ),
    drift: drift.list(),
  };
}

/** The tables that the job of a checkpoint writes, and their rows so far. */
function tablesOf(job: JobShape, commits: readonly Commit[]): Manifest['tables'] {
  const files = commits.flatMap((commit) => commit.files);
  const names = Array.isArray(job['output.tables']) ? job['output.tables'].map(String) : [];
  const shaped = names.flatMap((name) => {
    const table = tableByName(name);
    return table === undefined ? [] : [shapeTable(table, shapeOf(job)).table];
  });
  return Object.fromEntries(
    shaped.map((table) => {
      const mine = files.filter((file) => file.table === table.name);
      const rows = mine.filter(({ format }) => format === mine[0]?.format).reduce((sum, each) => sum + each.rows, 0);
      return [table.name, { rows, columns: columnsOf(table) }];
    }),
  );
}

/** The values come from a checked job by way of a checkpoint, whose checksums detect any change. */
function shapeOf(job: JobShape): TableShape {
  return {
    columns: (job['output.columns'] ?? undefined) as TableShape['columns'],
    exclude: (job['output.exclude'] ?? []) as TableShape['exclude'],
    rename: (job['output.rename'] ?? {}) as TableShape['rename'],
    nested: job['output.nested'] === true,
    // Only whether there is a stamp decides the columns.
    ...(job['output.fetchedAt'] === true ? { exportedAtUs: 0 } : {}),
  };
}

function columnsOf({ columns }: Table): Manifest['tables'][string]['columns'] {
  return columns.map(({ name, type, nullable, from, list }) => ({
    ...{ name, type, nullable },
    ...(from === undefined ? {} : { from }),
    ...(list === undefined ? {} : { list }),
  }));
}
