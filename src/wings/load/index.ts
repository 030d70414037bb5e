export { loadModes } from './load-modes.ts';
export { loadExport, type LoadSummary } from './load-export.ts';
export { nulRules } from './nul/nul-values.ts';
export { newColumnRules } from './prepare-tables.ts';
export { parseTarget, requireNames } from './load-target.ts';
