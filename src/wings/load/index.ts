export { deleteRules, loadModes } from './load-record.ts';
export { loadExport } from './load-export.ts';
export { heldStartMs } from './held-start.ts';
export type { LoadSummary } from './load-rows.ts';
export { nulRules } from './nul/nul-values.ts';
export { newColumnRules } from './prepare-tables.ts';
export { parseTarget, requireNames } from './load-target.ts';
