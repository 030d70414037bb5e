export { columnsDocument } from './columns-document.ts';
export {
  commentsFor,
  ddlFor,
  type EngineName,
  engineNames,
  exampleFolders,
  hasClusters,
  loadStatementFor,
  noteFor,
  requireCluster,
} from './engines.ts';
export { diffExports, type DiffSummary } from './diff/diff-exports.ts';
export { exportScript } from './scripts/export-script.ts';
export { recordTable, stagePrefix } from './scripts/record-table.ts';
export { scriptExportOf, scriptHeading } from './scripts/script-export.ts';
export { inPlaceNames, inPlaceNights, inPlaceTable } from './in-place/in-place-engines.ts';
export { nightsView, viewNames, wholeView } from './in-place/in-place-views.ts';
export { nightsAddress } from './in-place/nights-address.ts';
export { dbtSources } from './analysts/dbt-sources.ts';
export { nftView, nftViewColumns } from './analysts/nft-view.ts';
export { selectSchema } from './scripts/script-style.ts';
export { requireFreeNames } from './reserved-names.ts';
export { duckdbType } from './duckdb.ts';
export { planLoad, rowsAfterLoad, sourceOf, type FileReader, type LoadPlan, type LoadTable } from './load-plan.ts';
export { jsonLinesCopy, postgresType } from './postgres.ts';
export { validColumns, versionNames } from './valid-columns.ts';
