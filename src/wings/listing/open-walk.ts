import { isEmbedded } from '../../core/job/job-schema.ts';
import type { ListContext, ListIdsRequest } from './list-request.ts';
import type { ListSettings } from './list-start.ts';
import { NumberedWalk } from './walk/numbered-walk.ts';
import { RangeWalk } from './walk/range-walk.ts';
import { TokenWalk } from './walk/token-walk.ts';
import type { Walk, WalkOptions } from './walk/walk.ts';
import { totalOf } from './wire/list-body.ts';

export function settingsOf(request: ListIdsRequest, context: ListContext): ListSettings {
  const { dialect, query, records } = request;
  const { filter, address, onlyVerified, flags } = query;
  const { name, list } = dialect;
  return {
    filter,
    address,
    onlyVerified,
    flags: { ...flags },
    limit: list.limit,
    isNumbered: list.next === 'page',
    dialect: name,
    origin: originOf(request, context),
    records: records !== undefined,
  };
}

/** Local records are served at another port each time. */
export function originOf({ job }: ListIdsRequest, { service }: ListContext): string {
  return isEmbedded(job.service.url) ? job.service.url : new URL(service.url).origin;
}

export function walkOf(
  { dialect, query, job, expect, proofCalls }: ListIdsRequest,
  kept: { readonly limit: number },
): Walk {
  const { list } = dialect;
  const total = totalOf(dialect, query.filter);
  const options: WalkOptions = {
    limit: list.limit,
    concurrency: job.service.concurrency,
    direction: list.sort === undefined ? undefined : list.sort.sortDirection === 'asc' ? 'rising' : 'falling',
    total: total === 'none' ? 'none' : total === 'getGrouping' ? 'alone' : 'withPage',
    totalCounts: list.totalCounts,
    expect,
    proofCalls,
    hadOtherLimit: kept.limit !== list.limit,
  };
  if (list.next === 'cursor') return new TokenWalk({ ...options, endsByToken: list.ends === 'token' });
  if (list.next === 'page') return new NumberedWalk(options);
  return new RangeWalk(options);
}
