import { join } from 'node:path';
import { classifyAssets, whenProblem } from './core/records/classify-assets.ts';
import { assetsTable } from './core/records/columns.ts';
import { flattenAsset } from './core/records/flatten-asset.ts';
import type { FinishedExport } from './exports/finished-export.ts';
import type { ServiceDialect } from './core/client/dialects.ts';
import type { Clock } from './lib/clock.ts';
import { ExportError, messageOf } from './lib/export-error.ts';
import { isJsonObject, type JsonObject } from './lib/json/json.ts';

/*
 * The only door to the practice service (packages/practice-service), which is loaded when it is needed. The service knows neither
 * exports nor columns: how a finished export is read and of which class an asset is comes from here. The types are declared again,
 * because users of the library cannot resolve those of a workspace.
 */

export interface ServiceOptions {
  /** Paths of JSONL files with a record a line, plain, `.gz` or `.zst`, or of folders of finished exports. */
  readonly assets: readonly string[];
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** How it is spoken to; as the specification says unless given. */
  readonly dialect?: ServiceDialect;
  /** Keys that are let in; absent: any. */
  readonly apiKeys?: readonly string[];
  /** Balance of a key for a UTC day; absent: no limit. */
  readonly creditsPerDay?: number;
  /** Credits that a key may spend within a second; absent: no limit. */
  readonly creditsPerSecond?: number;
  /** Price of a call; default 160. */
  readonly creditsPerCall?: number;
  /** Maximum ids per call; default 1000. */
  readonly maxIds?: number;
  /** Time limit for a request to arrive; default 30,000. */
  readonly requestTimeoutMs?: number;
  /** Idle limit of a connection; default 120,000, unlimited with faults. */
  readonly idleTimeoutMs?: number;
  /** Folder of the records and balances on disk; absent: memory. */
  readonly storeDir?: string;
  /** Folder for records that memory does not hold, when no `storeDir` is named. */
  readonly spillDir?: string;
  /** What it is to suffer from, for tests and rehearsals. */
  readonly faults?: ServiceFaults;
  /** How the records differ from day to day. */
  readonly changes?: RecordChanges;
  readonly clock: Clock;
  /** Called for an internal error that a client saw as status 500. */
  readonly onError?: (error: unknown) => void;
}

/** What a fault file holds (docs/service.md). */
export interface ServiceFaults {
  readonly seed?: number;
  readonly faults: readonly { readonly fault: string; readonly [field: string]: unknown }[];
}

/** What a file of changes holds (docs/service.md). Shares are of the assets, a day, from 0 to 1. */
export interface RecordChanges {
  readonly seed: number;
  /** UTC day until which the records are as loaded. */
  readonly from: string;
  readonly classes: readonly { readonly when: readonly string[]; readonly share: number }[];
  readonly share: number;
  readonly gone: number;
  readonly back: number;
}

export interface RunningService {
  /** Base address, without what the dialect adds. */
  readonly url: string;
  /** Assets that it serves. */
  readonly assets: number;
  /** What it answered and charged so far. */
  counts(): ServiceCounts;
  /** Sends what was charged, for at most `graceMs` (0 unless given); then open connections are cut. */
  close(graceMs?: number): Promise<void>;
}

/** What a service answered so far. */
export interface ServiceCounts {
  /** HTTP exchanges on the service's path, refused ones included. */
  readonly exchanges: number;
  /** Calls of the two methods that were charged. */
  readonly calls: number;
  /** Ids requested in those calls. */
  readonly ids: number;
  /** Records found for them. */
  readonly records: number;
  /** Credits charged. */
  readonly credits: number;
  /** Exchanges refused for lack of credits. */
  readonly refused: number;
  /** Exchanges with at least one fault. */
  readonly faulted: number;
}

/** A file of a finished export: the texts of its records as lines, or what is rebuilt from its rows. */
type ExportedFile = { readonly path: string } & (
  | { readonly lines: AsyncIterable<Uint8Array> }
  | { readonly records: AsyncIterable<JsonObject[]> }
);

/**
 * Starts the service on local data.
 * @throws {ExportError} `input` when the data cannot be read, `usage` when the address cannot be had, `cannotWrite` for the store.
 */
export async function startService({ faults, ...options }: ServiceOptions): Promise<RunningService> {
  const service = await import('@asset-export/practice-service/start-service');
  return service.serveFiles({ ...options, ...(await checkedFaults(faults)) }, { readExport, classify });
}

/** Starts the service on generated records, of which some are missing. @throws {ExportError} as `startService` */
export async function serveGenerated(
  missingPercent: number,
  { faults, ...options }: Omit<ServiceOptions, 'assets'>,
): Promise<RunningService> {
  const service = await import('@asset-export/practice-service/start-service');
  const { GeneratedStore } = await import('@asset-export/practice-service/store/generated-store');
  const store = new GeneratedStore(missingPercent);
  return service.serveAssets(store, { ...options, ...(await checkedFaults(faults)) }, { classify });
}

async function checkedFaults(faults: ServiceFaults | undefined) {
  if (faults === undefined) return {};
  const { checkFaults } = await import('@asset-export/practice-service/faults/load-faults');
  return { faults: checkFaults(faults) };
}

/** Reads the beginning of the records at a path. @throws {ExportError} as `startService` */
export async function requireRecordsAt(path: string): Promise<void> {
  const { readRecords } = await import('@asset-export/practice-service/store/read-records');
  const blocks = readRecords({ assets: [path], readExport });
  await blocks.next();
  await blocks.return(undefined);
}

/** Reads a fault file. @throws {ExportError} `usage` when it cannot be read, with the place of what is wrong */
export async function loadFaults(path: string): Promise<ServiceFaults> {
  return (await import('@asset-export/practice-service/faults/load-faults')).readFaultFile(path);
}

/** Reads a file of changes. @throws {ExportError} `usage` when it cannot be read, with the place of what is wrong */
export async function readChangesFile(path: string): Promise<RecordChanges> {
  return (await import('@asset-export/practice-service/changes/change-schema')).readChanges(path, whenProblem);
}

/** The files that hold the records of a finished export: raw lines, or records rebuilt from the rows of its assets table. */
export async function readExport(folder: string): Promise<ExportedFile[]> {
  const { recordFiles, recordsOf } = await import('./exports/records.ts');
  const finished = await openExport(folder);
  return recordFiles(finished).map((file) => {
    const path = join(folder, file.path);
    // Raw lines are served as they are: the service's own text.
    if (file.format === 'raw') return { path, lines: finished.bytes(file) };
    return { path, records: withNulls(recordsOf(finished, file)) };
  });
}

/** What a service sends as null. A null cell tells nothing of the member, and rebuilt records leave it out. */
const nullableMembers = [
  ['ownership', 'delegate'],
  ['royalty', 'target'],
  ['supply', 'edition_nonce'],
] as const;

async function* withNulls(records: AsyncIterable<JsonObject[]>): AsyncGenerator<JsonObject[]> {
  for await (const some of records) {
    for (const record of some) {
      record['supply'] ??= null;
      for (const [parent, name] of nullableMembers) {
        const within = record[parent];
        if (isJsonObject(within)) within[name] ??= null;
      }
    }
    yield some;
  }
}

async function openExport(folder: string): Promise<FinishedExport> {
  const { openFinished } = await import('./exports/finished-export.ts');
  try {
    return await openFinished(folder);
  } catch (error) {
    if (error instanceof ExportError && (error.why?.kind === 'outside' || error.exit === 'unfinished')) throw error;
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
