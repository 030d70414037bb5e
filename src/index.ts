/** The library: what `run`, `plan`, `status`, `verify`, `get` and `serve` do, in one call each. */
export {
  type ExportResult,
  exportInOneCall as exportAssets,
  type GetOptions,
  getInOneCall as getAssets,
  openSharedLedger as openPostgresLedger,
  type PlaceOptions,
  planInOneCall as planExport,
  rowsInOneCall as readRows,
  statusInOneCall as exportStatus,
  unfinishedOf as unfinishedBefore,
  verifyInOneCall as verifyExport,
} from './library/calls.ts';
export {
  type HoldersOptions,
  holdersInOneCall as writeHolders,
  listInOneCall as listIds,
  type ListOptions,
  type ListResult,
} from './library/list-call.ts';
export type { HoldersSummary, ListAccount, ListEvent } from './wings/listing/index.ts';
export type { ExportOptions, JobOptions, World } from './library/options.ts';
export { type RunningService, type ServiceOptions, startService } from './practice-service.ts';
export { ExportError } from './lib/export-error.ts';
export { exitCodes } from './lib/exit-codes.ts';
export { type Clock, systemClock } from './lib/clock.ts';
export { type TableName, type TableRows, tables } from './core/records/columns.ts';
export { type Job, type JobInput, jobSchema } from './core/job/job-schema.ts';
export { type JobSources, type LoadedJob, loadJob } from './core/job/load-job.ts';
export { type CreditLedger, openDiskLedger } from './core/client/ledger/credit-ledger.ts';
export { createMemoryLedger } from './core/client/ledger/credit-ledger.ts';
export type { PostgresLedger } from './wings/fleet/index.ts';
export type { AssetFate } from './core/run/get-assets.ts';
export type { ExportAccount } from './core/run/complete-export.ts';
export type { ExportPlan } from './core/run/plan-export.ts';
export type { ExportStatus } from './wings/status/index.ts';
export type { Verification } from './exports/verify-export.ts';
export type { ObservedRun, OpenObserver, RunAccount, RunEnd, RunObserver } from './core/work/run-observer.ts';
export type { RunEvent, RunListener } from './core/work/run-events.ts';
export { type Disk, localDisk, type Reads } from './places/files/disk.ts';
