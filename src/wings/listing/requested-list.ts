import { type ListFilter, listFilters, type ListingDialect } from '../../core/client/dialects.ts';
import { dialectOf } from '../../core/job/job-dialect.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { shownWord } from '../../lib/addresses/shown-text.ts';
import { ExportError } from '../../lib/export-error.ts';
import { isAssetId } from '../../lib/ids/asset-id.ts';
import type { ListIdsRequest } from './list-request.ts';

/** What is to be listed: exactly one of the filters, with its address. */
export interface WantedList
  extends Partial<Readonly<Record<ListFilter, string | undefined>>>,
    Omit<ListIdsRequest, 'job' | 'dialect' | 'query'> {
  /** Members of unverified collections too. */
  readonly unverified?: boolean | undefined;
  /** Of a creator: only assets that it signed. */
  readonly onlyVerified?: boolean | undefined;
  /** Most members a page, in place of the dialect's number. */
  readonly limit?: number | undefined;
}

/** The flags of records, as `ids` takes them. */
const flagNames = [
  ['showFungible', '--show-fungible'],
  ['showCollectionMetadata', '--show-collection-metadata'],
  ['showUnverifiedCollections', '--unverified'],
] as const;

/** The request for a list. @throws {ExportError} `usage` for what the dialect of the job cannot list */
export function requestedList(wanted: WantedList, job: Job): ListIdsRequest {
  const { out, records, expect, proofCalls, fresh, unverified = false, onlyVerified = false } = wanted;
  const dialect = listingDialect(job, wanted.limit);
  const [filter, address] = filterOf(wanted);
  const { list, name } = dialect;
  if (list[filter] === undefined)
    throw new ExportError('usage', `the dialect ${name} has no list by ${filter}`, {
      todo: `A dialect of your own can name its method: list.${filter} (asset-export help dialects).`,
    });
  const flags = { ...job.service.flags, ...(unverified ? { showUnverifiedCollections: true } : {}) };
  const known = filter === 'owner' ? list.flagsOwner : list.flags;
  for (const [flag, shown] of flagNames)
    if (flags[flag] && !known.includes(flag)) throw unknownFlag(shown, filter, name);
  if (onlyVerified && filter !== 'creator')
    throw new ExportError('usage', '--only-verified needs --creator: other lists do not know who signed');
  return { job, dialect, query: { filter, address, onlyVerified, flags }, out, records, expect, proofCalls, fresh };
}

function listingDialect({ service }: Job, limit: number | undefined): ListingDialect {
  const dialect = dialectOf(service.dialect);
  const { list, name } = dialect;
  if (list !== undefined) return { ...dialect, list: { ...list, limit: limit ?? list.limit } };
  throw new ExportError('usage', `the dialect ${name} says nothing of lists`, {
    todo: 'Add its field list (asset-export help dialects), or name another dialect.',
  });
}

/** @throws {ExportError} `usage` */
function filterOf(wanted: WantedList): readonly [ListFilter, string] {
  const [filter, other] = listFilters.filter((each) => wanted[each] !== undefined);
  if (filter === undefined || other !== undefined) {
    const names = listFilters.map((each) => `--${each}`).join(', ');
    const what = filter === undefined ? 'nothing to list' : `--${filter} and --${other ?? ''} were given together`;
    throw new ExportError('usage', what, { todo: `Name exactly one of ${names}.` });
  }
  const address = wanted[filter] ?? '';
  if (isAssetId(address)) return [filter, address];
  throw new ExportError('usage', `--${filter} is not an address: ${shownWord(address)}`, {
    todo: 'An address is base58 of 32 bytes: 32 to 44 characters.',
  });
}

function unknownFlag(flag: string, filter: ListFilter, dialect: string): ExportError {
  return new ExportError('usage', `the dialect ${dialect} has no ${flag} for lists by ${filter}`, {
    todo: 'Leave the flag out, or use a service that knows it (asset-export help dialects).',
  });
}
