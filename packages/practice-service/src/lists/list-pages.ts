import { keyBytes } from '../../../../src/lib/ids/asset-id.ts';
import type { SpokenLists } from '../dialect.ts';
import { droppedBy, hiddenRows, type ListFaults } from '../faults/list-faults.ts';
import type { ErrorObject } from '../json-rpc.ts';
import { pageRefused, type PageQuery, tokenOf } from './list-query.ts';
import type { AssetStore } from '../store/asset-store.ts';
import { hasSupply, isVerified, MemberIndex, type MemberRows, rowOf } from './member-index.ts';

/** What a page shows: ids whose records are still to be found. */
export interface ShownPage {
  readonly ids: readonly string[];
  /** Members that cannot be shown. */
  readonly errors: readonly string[];
  /** Of all members, where it was asked for; of a group, of which the page shows nothing. */
  readonly total: number | undefined;
  readonly token: string | undefined;
}

/** Cuts pages out of the lists of an index. A page takes so many rows, and then drops those that cannot be shown. */
export class ListPages {
  readonly #store: AssetStore;
  readonly #lists: Pick<SpokenLists, 'ends'>;
  /** The rows of the last page of each list, for a service that repeats itself. */
  readonly #last = new Map<string, readonly number[]>();

  #building: { readonly version: number; readonly index: Promise<MemberIndex> } | undefined;
  #index: MemberIndex | undefined;

  constructor(store: AssetStore, lists: Pick<SpokenLists, 'ends'> = { ends: undefined }) {
    this.#store = store;
    this.#lists = lists;
  }

  /** Reads the records once, and again when they have become others. Pages can be cut from then on. */
  async open(): Promise<void> {
    const { version = 0 } = this.#store;
    if (this.#building?.version !== version)
      this.#building = { version, index: MemberIndex.build(this.#store.records?.() ?? []) };
    this.#index = await this.#building.index;
  }

  page(query: PageQuery, faults: ListFaults): ShownPage | ErrorObject {
    const index = this.#index;
    if (index === undefined) throw new Error('the lists are not open');
    const { pageLimit } = faults;
    const { page = 1 } = query.place;
    if (pageLimit !== undefined && page > pageLimit.fault.pages) return pageRefused(pageLimit.fault.pages);
    const members = index.members(query.filter, query.address);
    const hidden = hiddenRows(faults, members, index.keys);
    const isIn = (entry: number): boolean => !hidden.has(rowOf(entry)) && isListed(entry, query);
    const isDropped = droppedBy(faults, index);
    if (query.method === 'getGrouping') {
      const isOfGroup = (entry: number): boolean => !hidden.has(rowOf(entry)) && (entry & isVerified) !== 0;
      const counted = faults.total?.fault.of === 'shown' ? isIn : isOfGroup;
      return { ids: [], errors: [], total: totalOf(members, counted, { faults, isDropped }), token: undefined };
    }
    const rows = this.#repeated(query, faults) ?? rowsOf(index, members, { query: turned(query, faults), isIn });
    this.#last.set(nameOf(query), rows);
    const shown = rows.filter((row) => !isDropped(row));
    const errors = faults.dropped.some(({ fault }) => fault.asErrors) ? rows.filter(isDropped) : [];
    // The reference goes by what it shows, and ends where it shows nothing; others go by their rows.
    const last = this.#lists.ends === 'token' ? rows.at(-1) : lastOf(rows, [...shown, ...errors]);
    const hasToken = query.place.hasToken && last !== undefined;
    return {
      ids: shown.map((row) => index.idAt(row)),
      errors: errors.map((row) => index.idAt(row)),
      total: query.withTotal ? totalOf(members, isIn, { faults, isDropped }) : undefined,
      token: hasToken ? tokenOf(index.idAt(last), faults.cursor !== undefined) : undefined,
    };
  }

  #repeated(query: PageQuery, { again }: ListFaults): readonly number[] | undefined {
    return again !== undefined && !again.fault.ignoreRange ? this.#last.get(nameOf(query)) : undefined;
  }
}

function nameOf({ method, address = '' }: PageQuery): string {
  return `${method} ${address}`;
}

/** Burnt assets are never listed; of what is not verified the request says whether it is wanted. */
function isListed(entry: number, { filter, onlyVerified, show }: PageQuery): boolean {
  if ((entry & hasSupply) === 0) return false;
  const mustBeVerified =
    filter === 'collection' ? !show.showUnverifiedCollections : filter === 'creator' && onlyVerified;
  return !mustBeVerified || (entry & isVerified) !== 0;
}

function totalOf(
  members: MemberRows,
  isIn: (entry: number) => boolean,
  { faults, isDropped }: { readonly faults: ListFaults; readonly isDropped: (row: number) => boolean },
): number {
  const { of = 'rows', off = 0 } = faults.total?.fault ?? {};
  let total = 0;
  for (const entry of members) if (isIn(entry) && (of === 'rows' || !isDropped(rowOf(entry)))) total += 1;
  return Math.max(0, total + off);
}

/** The query as a service with these faults understands it. */
function turned(query: PageQuery, { again, direction }: ListFaults): PageQuery {
  const isFalling = direction === undefined ? query.isFalling : true;
  const { after, before, hasToken, page } = query.place;
  if (again !== undefined) return { ...query, isFalling, place: { hasToken } };
  // The token of falling ids is where the next page ends.
  const place = hasToken && isFalling ? { before: after, hasToken } : { after, before, page, hasToken };
  return { ...query, isFalling, place };
}

/** The rows that a page takes. */
function rowsOf(
  { keys }: MemberIndex,
  members: MemberRows,
  { query, isIn }: { readonly query: PageQuery; readonly isIn: (entry: number) => boolean },
): number[] {
  const { place, limit, isFalling } = query;
  const from = place.after === undefined ? 0 : firstFrom(keys, members, place.after, true);
  const to = place.before === undefined ? members.length : firstFrom(keys, members, place.before, false);
  const rows: number[] = [];
  let toSkip = ((place.page ?? 1) - 1) * limit;
  for (let count = 0; count < to - from && rows.length < limit; count += 1) {
    const entry = members[isFalling ? to - 1 - count : from + count] ?? 0;
    if (!isIn(entry)) continue;
    if (toSkip > 0) toSkip -= 1;
    else rows.push(rowOf(entry));
  }
  return rows;
}

/** The first entry whose key is at least a place, or above it. */
function firstFrom(keys: Uint8Array, members: MemberRows, place: Uint8Array, isAbove: boolean): number {
  let low = 0;
  let high = members.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = rowOf(members[middle] ?? 0) * keyBytes;
    const order = Buffer.compare(keys.subarray(at, at + keyBytes), place);
    if (order < 0 || (isAbove && order === 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last of the rows that is among these. */
function lastOf(rows: readonly number[], some: readonly number[]): number | undefined {
  const among = new Set(some);
  return rows.findLast((row) => among.has(row));
}
