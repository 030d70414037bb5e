import { isAssetId, keyBytes, putIdBytes } from '../../../../src/lib/ids/asset-id.ts';
import { type AssetQuery, pubkeyInvalid, readConfig } from '../asset-query.ts';
import type { ShowFlag, SpokenDialect, SpokenLists } from '../dialect.ts';
import { type ErrorObject, invalidParams } from '../json-rpc.ts';
import type { ShowFlags } from '../store/stored-record.ts';

/** What the members of a list have in common, and the names of its methods in the standard. */
export const listMethods = {
  collection: 'getAssetsByGroup',
  owner: 'getAssetsByOwner',
  creator: 'getAssetsByCreator',
  authority: 'getAssetsByAuthority',
  tree: 'getAssetsByTree',
} as const;
export type MemberFilter = keyof typeof listMethods;

/** A call of a list method, or of `getGrouping`, with parameters that are in order. */
export interface PageQuery {
  readonly method: (typeof listMethods)[MemberFilter] | 'getGrouping';
  /** None: a page is requested by what its members have in common. */
  readonly ids: readonly string[];
  readonly filter: MemberFilter;
  /** Undefined where no asset has it: a group of another kind than collections. */
  readonly address: string | undefined;
  readonly onlyVerified: boolean;
  readonly show: ShowFlags & { readonly showUnverifiedCollections: boolean };
  readonly withTotal: boolean;
  readonly place: PlaceInList;
  readonly limit: number;
  readonly isFalling: boolean;
}

export interface PlaceInList {
  /** 32 bytes; members above it, and below it. */
  readonly after?: Uint8Array | undefined;
  readonly before?: Uint8Array | undefined;
  /** From 1. */
  readonly page?: number | undefined;
  /** None of these was given, or a token was: the answer has the token of the next page. */
  readonly hasToken: boolean;
}

/** A call of any method. */
export type ServiceQuery = AssetQuery | PageQuery;

const pagingNames = ['sortBy', 'limit', 'page', 'before', 'after'] as const;

/** The parameters of each filter, in their order. */
const subjectNames: Readonly<Record<MemberFilter, readonly string[]>> = {
  collection: ['groupKey', 'groupValue'],
  owner: ['ownerAddress'],
  creator: ['creatorAddress', 'onlyVerified'],
  authority: ['authorityAddress'],
  tree: ['tree'],
};

/** Reads a call of a list method; undefined for the name of another method. The first thing wrong is the error. */
export function readPageQuery(
  method: string,
  params: unknown,
  dialect: SpokenDialect,
): PageQuery | ErrorObject | undefined {
  const { list } = dialect;
  if (list === undefined) return undefined;
  if (method === 'getGrouping' && list.total === 'getGrouping') return readGrouping(params, dialect, list);
  const filters = Object.keys(listMethods) as MemberFilter[];
  const filter = filters.find((each) => list[each] === method);
  if (filter === undefined) return undefined;
  const given = readParams(params, [...subjectNames[filter], ...pagingNames], dialect);
  return 'code' in given ? given : readPage(filter, given, { dialect, list });
}

type Given = ReadonlyMap<string, unknown>;

/** What was given, by its name; null is as good as nothing. */
function readParams(params: unknown, names: readonly string[], dialect: SpokenDialect): Given | ErrorObject {
  if (dialect.params === 'positional') {
    if (!Array.isArray(params)) return invalidParams('expected an array of positional parameters');
    if (params.length > names.length) return invalidParams(`expected at most ${names.length} parameters`);
    return present(params.map((value: unknown, at) => [names[at] ?? '', value]));
  }
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    return invalidParams('expected an object of named parameters');
  const known = [...names, 'cursor', dialect.options, 'displayOptions'];
  const unknown = Object.keys(params).find((name) => !known.includes(name));
  if (unknown !== undefined) return invalidParams(`unknown field ${JSON.stringify(unknown.slice(0, 100))}`);
  return present(Object.entries(params));
}

function present(entries: readonly (readonly [string, unknown])[]): Given {
  return new Map(entries.filter(([, value]) => value !== null && value !== undefined));
}

function readGrouping(params: unknown, dialect: SpokenDialect, list: SpokenLists): PageQuery | ErrorObject {
  const given = readParams(params, subjectNames.collection, dialect);
  if ('code' in given) return given;
  const page = readPage('collection', given, { dialect, list });
  return 'code' in page ? page : { ...page, method: 'getGrouping' };
}

function readPage(
  filter: MemberFilter,
  given: Given,
  { dialect, list }: { readonly dialect: SpokenDialect; readonly list: SpokenLists },
): PageQuery | ErrorObject {
  const address = readAddress(filter, given);
  if (typeof address === 'object') return address;
  const onlyVerified = given.get('onlyVerified') ?? false;
  if (typeof onlyVerified !== 'boolean') return invalidParams('onlyVerified must be a boolean');
  const config = given.get(dialect.options) ?? given.get('displayOptions');
  const shown = readListConfig(filter === 'owner' ? list.flagsOwner : list.flags, config, { ...list, ...dialect });
  if ('code' in shown) return shown;
  const limit = given.get('limit') ?? list.limit;
  if (!isCount(limit)) return invalidParams('limit must be a number from 1 on');
  if (limit > list.limit) return paginationError(`Limit should not be greater than ${list.limit}.`);
  const place = readPlace(given);
  if ('code' in place) return place;
  const isFalling = readSort(given.get('sortBy'), list);
  if (typeof isFalling !== 'boolean') return isFalling;
  const isOther = filter === 'collection' && given.get('groupKey') !== 'collection';
  return {
    method: listMethods[filter],
    ids: [],
    filter,
    address: isOther ? undefined : address,
    onlyVerified,
    ...shown,
    place,
    limit,
    isFalling,
  };
}

function readAddress(filter: MemberFilter, given: Given): string | ErrorObject {
  const name = filter === 'collection' ? 'groupValue' : (subjectNames[filter][0] ?? '');
  const address = given.get(name);
  if (filter === 'collection' && typeof given.get('groupKey') !== 'string')
    return invalidParams('groupKey must be a string');
  if (typeof address !== 'string') return invalidParams(`${name} must be a string`);
  return isAssetId(address) ? address : pubkeyInvalid(address);
}

type Shown = Pick<PageQuery, 'show' | 'withTotal'>;

function readListConfig(
  flags: readonly ShowFlag[],
  config: unknown,
  { total, ignored }: Pick<SpokenLists, 'total'> & Pick<SpokenDialect, 'ignored'>,
): Shown | ErrorObject {
  if (typeof config !== 'object' || config === null || !('showGrandTotal' in config) || total !== 'showGrandTotal') {
    const show = readConfig(flags, config, ignored);
    return 'code' in show ? show : { show, withTotal: false };
  }
  const { showGrandTotal, ...rest } = config;
  if (typeof showGrandTotal !== 'boolean') return invalidParams('showGrandTotal must be a boolean');
  const show = readConfig(flags, rest, ignored);
  return 'code' in show ? show : { show, withTotal: showGrandTotal };
}

/** As the reference words it. */
function paginationError(words: string): ErrorObject {
  return { code: -32602, message: `Pagination Error. ${words}` };
}

/** The page number that a service refuses, as a fault. */
export function pageRefused(most: number): ErrorObject {
  return paginationError(`Page should not be greater than ${most}.`);
}

function readPlace(given: Given): PlaceInList | ErrorObject {
  const [page, cursor, before, after] = ['page', 'cursor', 'before', 'after'].map((name) => given.get(name));
  const hasRange = before !== undefined || after !== undefined;
  if (page !== undefined) {
    if (!isCount(page)) return paginationError('Page must be a number from 1 on.');
    if (hasRange || cursor !== undefined) return onlyOnePlace;
    return { page, hasToken: false };
  }
  if (cursor !== undefined) {
    if (hasRange) return onlyOnePlace;
    const key = typeof cursor === 'string' ? keyOfToken(cursor) : undefined;
    if (key === undefined) return { code: -32000, message: 'Cursor Validation Err' };
    return { after: key, hasToken: true };
  }
  for (const each of [before, after]) {
    if (each === undefined) continue;
    if (typeof each !== 'string') return invalidParams('before and after must be strings');
    if (!isAssetId(each)) return pubkeyInvalid(each);
  }
  return { before: keyOfText(before), after: keyOfText(after), hasToken: !hasRange };
}

const onlyOnePlace = paginationError('Only one pagination parameter supported per query.');

/** True for an order by falling ids. The reference's own is falling; the words of other orders are refused. */
function readSort(sort: unknown, { sort: words }: SpokenLists): boolean | ErrorObject {
  if (sort === undefined) return words !== undefined;
  const given = typeof sort === 'object' && sort !== null ? Object.entries(sort) : [];
  const { sortBy, sortDirection = 'desc' } = Object.fromEntries(given) as Readonly<Record<string, unknown>>;
  if (words === undefined || sortBy !== words.sortBy || (sortDirection !== 'asc' && sortDirection !== 'desc'))
    return invalidParams('only lists that are sorted by id are served');
  return sortDirection === 'desc';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function keyOfText(id: unknown): Uint8Array | undefined {
  if (typeof id !== 'string') return undefined;
  const key = new Uint8Array(keyBytes);
  putIdBytes(id, key, 0);
  return key;
}

const opaqueMark = 'next.';

/** A token of a place: an id, as the reference sends it, or one that says nothing to a client. */
export function tokenOf(id: string, isOpaque: boolean): string {
  return isOpaque ? opaqueMark + Buffer.from(id).toString('base64url') : id;
}

function keyOfToken(token: string): Uint8Array | undefined {
  const isOpaque = token.startsWith(opaqueMark);
  const id = isOpaque ? Buffer.from(token.slice(opaqueMark.length), 'base64url').toString() : token;
  return isAssetId(id) ? keyOfText(id) : undefined;
}
