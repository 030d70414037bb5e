export { listIds } from './list-ids.ts';
export { listStatus, type ListStatus } from './list-status.ts';
export { type ListContext, type ListEvent, type ListIdsRequest, type ListOutcome } from './list-request.ts';
export { type HoldersRequest, type HoldersSummary, writeHolders } from './holders.ts';
export type { ListAccount } from './list-account.ts';
export { type ListQuery, pageBody, type PagePlace, totalBody, totalOf } from './wire/list-body.ts';
export { parsePage, parseTotal } from './wire/parse-page.ts';
export { requestedList, type WantedList } from './requested-list.ts';
