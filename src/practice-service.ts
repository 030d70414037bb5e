import { join } from 'node:path';
import { classifyAssets } from './core/records/classify-assets.ts';
import { assetsTable } from './core/records/columns.ts';
import { flattenAsset } from './core/records/flatten-asset.ts';
import { whenProblem } from './core/records/when-words.ts';
import { type FinishedExport, openFinished } from './exports/finished-export.ts';
import { recordFiles, recordsOf } from './exports/records.ts';
import { ExportError, messageOf } from './lib/export-error.ts';
import type { JsonObject } from './lib/json/json-value.ts';
import type { Changes } from './service/changes/change-schema.ts';
import type { Faults } from './service/faults/fault-schema.ts';
import type { RunningService, ServiceOptions } from './service/start-service.ts';
import type { ExportedFile } from './service/store/read-records.ts';

export type { RunningService, ServiceOptions } from './service/start-service.ts';

/*
 * The only door to the practice service, which is loaded when it is needed. The service knows neither exports nor columns:
 * how a finished export is read and of which class an asset is comes from here.
 */

/**
 * Starts the service on local data.
 * @throws {ExportError} `input` when the data cannot be read, `usage` when the address cannot be had, `cannotWrite` for the store.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const service = await import('./service/start-service.ts');
  return service.serveFiles(options, { readExport, classify });
}

/** Starts the service on generated records, of which some are missing. @throws {ExportError} as `startService` */
export async function serveGenerated(
  missingPercent: number,
  options: Omit<ServiceOptions, 'assets'>,
): Promise<RunningService> {
  const service = await import('./service/start-service.ts');
  const { GeneratedStore } = await import('./service/store/generated-store.ts');
  return service.serveAssets(new GeneratedStore(missingPercent), options, { classify });
}

/** Reads the beginning of the records at a path. @throws {ExportError} as `startService` */
export async function requireRecordsAt(path: string): Promise<void> {
  const { readRecords } = await import('./service/store/read-records.ts');
  const blocks = readRecords({ assets: [path], readExport });
  await blocks.next();
  await blocks.return(undefined);
}

/** Reads a fault file. @throws {ExportError} `usage` when it cannot be read, with the place of what is wrong */
export async function loadFaults(path: string): Promise<Faults> {
  return (await import('./service/faults/load-faults.ts')).readFaultFile(path);
}

/** Reads a file of changes. @throws {ExportError} `usage` when it cannot be read, with the place of what is wrong */
export async function readChangesFile(path: string): Promise<Changes> {
  return (await import('./service/changes/change-schema.ts')).readChanges(path, whenProblem);
}

/** The files that hold the records of a finished export: raw lines, or records rebuilt from the rows of its assets table. */
export async function readExport(folder: string): Promise<ExportedFile[]> {
  const finished = await openExport(folder);
  return recordFiles(finished).map((file) => {
    const path = join(folder, file.path);
    // Raw lines are served as they are: the service's own text.
    return file.format === 'raw' ? { path, lines: finished.bytes(file) } : { path, records: recordsOf(finished, file) };
  });
}

async function openExport(folder: string): Promise<FinishedExport> {
  try {
    return await openFinished(folder);
  } catch (error) {
    if (error instanceof ExportError && error.facts['outside'] === true) throw error;
    throw new ExportError('input', messageOf(error), {
      todo: 'Name JSONL files, or the folder of a complete export (see asset-export status).',
      cause: error,
    });
  }
}

/** Tells of which class a record is: the index of the first one whose words all fit, the number of classes where none does. */
export function classify(classes: readonly (readonly string[])[]): (record: JsonObject) => number {
  const classifier = classifyAssets(classes);
  const columnsAt = classifier.columns.map((column) => assetsTable.columns.indexOf(column));
  return (record) => {
    const { row } = flattenAsset(record);
    return classifier.classOf(columnsAt.map((at) => row[at] ?? null));
  };
}
