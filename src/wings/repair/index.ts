export { openSource, rebuildExport, rebuiltJob, type RebuiltOutput } from './rebuild/rebuild-export.ts';
export { sortColumns, type SortOrder } from './rebuild/sorted-records.ts';
export { repairExport, type RepairRequest } from './repair-export.ts';
export type { RepairOutcome } from './repair-outcome.ts';
