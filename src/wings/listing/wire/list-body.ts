import { createHash } from 'node:crypto';
import type { AssetFlags } from '../../../core/client/asset-client.ts';
import type { ListFilter, ListingDialect } from '../../../core/client/dialects.ts';
import type { JsonObject } from '../../../lib/json/json.ts';

/** Whose members are listed, and how their records are shown. */
export interface ListQuery {
  readonly filter: ListFilter;
  readonly address: string;
  /** Of a creator: only assets that it signed. */
  readonly onlyVerified: boolean;
  /** Those that lists of the filter know are sent. */
  readonly flags: AssetFlags;
}

/** Where a page begins and ends; without any of these it is the first one. */
export interface PagePlace {
  /** Ids above it, and below it. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  /** The token of the page before. */
  readonly cursor?: string | undefined;
  /** From 1. */
  readonly page?: number | undefined;
  /** Members a page, in place of the dialect's number. */
  readonly limit?: number | undefined;
}

/** A request of one list method. */
export interface ListBody {
  readonly method: string;
  /** UTF-8 */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The JSON-RPC id: 31 bits of a hash of the rest. Other requests have other ids, and a retry has the same. */
  readonly id: number;
}

/** The request of a page. @param withTotal also asks for the total, where the dialect counts by `showGrandTotal` */
export function pageBody(
  dialect: ListingDialect,
  query: ListQuery,
  { withTotal, ...place }: PagePlace & { readonly withTotal: boolean },
): ListBody {
  const { list, params, options } = dialect;
  const method = list[query.filter];
  if (method === undefined) throw new Error(`no lists of ${query.filter} in ${dialect.name}`);
  const isFirst = Object.values(place).every((each) => each === undefined);
  const shown = shownBy(dialect, query, withTotal);
  const members: JsonObject = {
    ...subjectOf(query),
    sortBy: list.sort ?? null,
    limit: place.limit ?? list.limit,
    // Older servers refuse a request without any place.
    page: place.page ?? (isFirst && list.next !== 'cursor' ? 1 : null),
    before: place.before ?? null,
    after: place.after ?? null,
  };
  if (params === 'positional') return bodyOf(method, Object.values(members));
  const named = { ...members, cursor: place.cursor ?? null, [options]: Object.keys(shown).length > 0 ? shown : null };
  return bodyOf(method, Object.fromEntries(Object.entries(named).filter(([, value]) => value !== null)));
}

/** The request of the total of a collection by `getGrouping`. */
export function totalBody({ params }: ListingDialect, { address }: Pick<ListQuery, 'address'>): ListBody {
  const members = { groupKey: 'collection', groupValue: address };
  return bodyOf('getGrouping', params === 'positional' ? Object.values(members) : members);
}

/** How all members of a filter are counted. `getGrouping` knows collections alone. */
export function totalOf({ list }: ListingDialect, filter: ListFilter): ListingDialect['list']['total'] {
  return list.total === 'getGrouping' && filter !== 'collection' ? 'none' : list.total;
}

function shownBy({ list }: ListingDialect, { filter, flags }: ListQuery, withTotal: boolean): JsonObject {
  const on = (filter === 'owner' ? list.flagsOwner : list.flags).filter((flag) => flags[flag]);
  const total = withTotal && list.total === 'showGrandTotal' ? ['showGrandTotal'] : [];
  return Object.fromEntries([...on, ...total].map((flag) => [flag, true]));
}

/** What is listed, by the names of its parameters; in their order, where they have no names. */
function subjectOf({ filter, address, onlyVerified }: ListQuery): JsonObject {
  if (filter === 'collection') return { groupKey: 'collection', groupValue: address };
  if (filter === 'creator') return { creatorAddress: address, onlyVerified: onlyVerified ? true : null };
  return { [filter === 'tree' ? 'tree' : `${filter}Address`]: address };
}

function bodyOf(method: string, params: JsonObject | unknown[]): ListBody {
  const rest = `,"method":"${method}","params":${JSON.stringify(params)}}`;
  const id = createHash('sha256').update(rest).digest().readUInt32BE(0) >>> 1;
  return { method, id, body: Buffer.from(`{"jsonrpc":"2.0","id":${id}${rest}`) };
}
