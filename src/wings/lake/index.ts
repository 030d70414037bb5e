export { type CatalogueEngine, catalogueEngines, catalogueText } from './catalogue-lines.ts';
export { type CheckedLake, checkLake } from './check-lake.ts';
export { lakeFollower } from './follow-nights.ts';
export { type Lake, lakeAt } from './lake.ts';
export { publishAll, type PublishedNights, rebuildLake, type RebuildPlan } from './publish-all.ts';
export { patternOfExports } from './lake-pattern.ts';
export { addressOfLake, publishedTables } from './publish-nights.ts';
