export { accountPath, unprovenEnding } from './list-files.ts';
export {
  type ListContext,
  type ListEvent,
  listFolder,
  listIds,
  type ListIdsRequest,
  type ListOutcome,
} from './list-ids.ts';
export { type ListAccount, listKind } from './list-account.ts';
export { type ListQuery, pageBody, type PagePlace, totalBody, totalOf } from './wire/list-body.ts';
export { parsePage, parseTotal } from './wire/parse-page.ts';
