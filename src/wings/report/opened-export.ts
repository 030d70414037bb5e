import { FinishedExport } from '../../exports/finished-export.ts';
import { tableByName } from '../../core/records/columns.ts';
import { currentEncoding } from '../../core/records/table.ts';
import { shapeTable, type TableShape } from '../../core/records/shape-table.ts';
import { committedCounts, driftOf, notesOf, proofsOf, tableFacts } from '../../places/scratch/commit-sums.ts';
import type { Commit, JobShape } from '../../places/export/export-facts.ts';
import type { ExportStanding, UnfinishedStanding } from '../../core/run/record/export-standing.ts';
import type { FileStore } from '../../places/files/file-store.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { RunLine } from '../../core/run/record/run-lines.ts';

/** An export in any state. */
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

/** What a report reads of an export that stands so. @param files those of the export, in `folder` */
export function openStanding(standing: ExportStanding, files: FileStore, folder: string): OpenedExport {
  const { lines } = standing;
  if ('manifest' in standing) {
    const { manifest } = standing;
    const view = new FinishedExport(files, folder, manifest);
    return { view, isComplete: true, isHeld: false, lines, startedAtMs: manifest.startedAtMs };
  }
  const view = new FinishedExport(files, folder, manifestSoFar(standing));
  return {
    view,
    isComplete: false,
    isHeld: standing.owner !== undefined,
    lines,
    startedAtMs: standing.start?.startedAtMs,
  };
}

function manifestSoFar({ start, commits, spent, lines }: UnfinishedStanding): Manifest {
  const { job, inputs } = start ?? { job: {}, inputs: [] };
  const proofs = proofsOf(commits);
  const version = lines.findLast((line) => line.kind === 'run')?.version ?? '';
  return {
    version: 1,
    program: { name: 'asset-export', version },
    encoding: currentEncoding,
    job,
    inputs,
    counts: committedCounts(commits),
    notes: notesOf(commits),
    ...(proofs === undefined ? {} : { proofs }),
    drift: driftOf(commits),
    ...spent,
    parts: commits.length,
    tables: tablesOf(job, commits),
    files: commits.flatMap((commit) => commit.files.map((file) => ({ ...file, first: 0, last: 0 }))),
    commits: [...commits],
  };
}

/** The tables that an unfinished export writes, and their rows so far. */
function tablesOf(job: JobShape, commits: readonly Commit[]): Manifest['tables'] {
  const files = commits.flatMap((commit) => commit.files);
  const names = Array.isArray(job['output.tables']) ? job['output.tables'].map(String) : [];
  const shaped = names.flatMap((name) => {
    const table = tableByName(name);
    return table === undefined ? [] : [shapeTable(table, shapeOf(job)).table];
  });
  return Object.fromEntries(shaped.map((table) => [table.name, tableFacts(table, files)]));
}

/** The values come from a checked job by way of its start, whose checksum detects any change. */
function shapeOf(job: JobShape): TableShape {
  return {
    columns: (job['output.columns'] ?? undefined) as TableShape['columns'],
    exclude: (job['output.exclude'] ?? []) as TableShape['exclude'],
    rename: (job['output.rename'] ?? {}) as TableShape['rename'],
    hasFetchedAt: job['base.from'] !== undefined,
    hasProofs: job['output.proofs'] === true,
    // Only whether there is a stamp decides the columns.
    ...(job['output.exportedAt'] === true ? { exportedAtUs: 0 } : {}),
  };
}
