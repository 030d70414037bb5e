import { type FileReader, type LoadPlan, planLoad } from '../warehouse/index.ts';
import { basename } from 'node:path';
import { type FinishedExport, openFinished } from '../../exports/finished-export.ts';
import { verifyExport } from '../../exports/verify-export.ts';
import { changesTable } from '../../core/records/columns.ts';
import { startOfExport } from '../../core/run/record/run-record.ts';
import { ExportError } from '../../lib/export-error.ts';
import { commandLine } from '../../lib/addresses/shown-text.ts';
import type { FileStore } from '../../places/files/file-store.ts';
import type { LoadMode } from './load-modes.ts';

/** What is loaded. */
export interface LoadedExport {
  readonly finished: FinishedExport;
  readonly plan: LoadPlan;
  /** Its folder or bucket, as its owner names it: what is loaded may be a copy. */
  readonly address: string;
  /** The folder name of the export; of a diff that of its newer export. */
  readonly name: string;
  /** When the export began, in milliseconds since 1970; undefined where nothing says so. */
  readonly startedAtMs: number | undefined;
}

export interface ExportToLoad {
  readonly files: FileStore;
  /** Absolute. */
  readonly folder: string;
  readonly mode: LoadMode;
  /** Put before the name of every table. */
  readonly prefix?: string | undefined;
  /** The address of the export where `folder` is a copy of it. */
  readonly address?: string | undefined;
}

/** @throws {ExportError} `damaged` when the export is unfinished or damaged, `usage` when the mode does not take it */
export async function openLoadedExport(request: ExportToLoad, reader: FileReader): Promise<LoadedExport> {
  const { files, folder, prefix, mode } = request;
  const { damage } = await verifyExport(files, folder);
  const [first] = damage;
  if (first !== undefined) {
    throw new ExportError('damaged', `${folder} is damaged: ${first.path}: ${first.problem}`, {
      todo: `Nothing was loaded. Every problem: ${commandLine('verify', folder)}`,
      facts: { problems: damage.length },
    });
  }
  const finished = await openFinished(folder, files);
  const { manifest } = finished;
  const plan = planLoad(finished, reader, prefix);
  const startedAtMs = await startOfExport(files, folder, manifest);
  const { address = folder } = request;
  const name = manifest.diff?.to.name ?? basename(address);
  const loaded = { finished, plan, address, name, startedAtMs };
  if (mode !== 'replace') return loaded;
  if (manifest.kind === 'diff') {
    throw new ExportError('usage', `${folder} is a diff: it holds changes, not a whole export`, {
      todo: 'Load it with --mode merge or scd2.',
    });
  }
  // What changed is for merge and scd2.
  const whole = { ...plan, tables: plan.tables.filter((table) => table.name !== changesTable.name) };
  return { ...loaded, plan: whole };
}
