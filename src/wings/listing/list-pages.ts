import type { RefusedAnswer } from '../../core/client/asset-client.ts';
import type { CreatedClient } from '../../core/client/create-client.ts';
import type { ListingDialect } from '../../core/client/dialects.ts';
import { mostCalls, type Overrun } from '../../core/client/policies/shared-pace.ts';
import type { Brake } from '../../core/client/policies/brake.ts';
import type { Clock } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import { count, plural } from '../../lib/format-text.ts';
import { idOfBytes } from '../../lib/ids/asset-id.ts';
import { type CheckedPage, checkPage } from './check-page.ts';
import type { Members } from './members.ts';
import type { KeptPage, PageJournal } from './page-journal.ts';
import { bytesOfKey } from './walk/keys.ts';
import type { ListRequest, PageRequest, Walk } from './walk/walk.ts';
import { type ListQuery, pageBody, totalBody } from './wire/list-body.ts';
import { type ParsedPage, type ParsedTotal, parsePage, parseTotal } from './wire/parse-page.ts';

export interface PagesToList {
  readonly walk: Walk;
  readonly dialect: ListingDialect;
  readonly query: ListQuery;
  /** Of pages that are well formed, and whose ids are not those that were asked for. */
  readonly retries: number;
  readonly client: Pick<CreatedClient, 'request'>;
  readonly journal: PageJournal;
  readonly members: Members;
  readonly brake: Brake;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  /** Told of each answer. */
  readonly onAnswer: () => void;
}

/** Most calls of a walk, as far as is known now: what is planned, what the overrun allows, and what the proof may cost. */
export function mostListCalls({ planned, mostEmpty }: Walk, overrun: Overrun | undefined): number {
  return (overrun === undefined ? planned : mostCalls(planned, overrun)) + mostEmpty;
}

/** Requests what the walk wants, until it wants nothing more. What is in flight when one fails is waited for, and kept. */
export async function listPages(listing: PagesToList): Promise<void> {
  const { walk, stop, brake } = listing;
  const underWay = new Set<Promise<void>>();
  let failure: unknown;
  const fail = (error: unknown): void => {
    failure ??= error;
  };
  for (;;) {
    const requests = failure === undefined && !stop.aborted ? walk.next() : [];
    const { emptyPages, askedAgain } = walk.counts;
    brake.plans(walk.planned, Math.min(walk.mostEmpty, emptyPages + askedAgain));
    for (const request of requests) {
      const asked = ask(listing, request).catch(fail);
      underWay.add(asked);
      void asked.then(() => underWay.delete(asked));
    }
    if (underWay.size === 0) break;
    await Promise.race(underWay);
  }
  if (failure !== undefined) throw overrunOfPages(failure, listing);
  stop.throwIfAborted();
  if (walk.circle !== undefined) throw circle(walk.circle, walk.counts.members);
}

function ask(listing: PagesToList, request: ListRequest): Promise<void> {
  if (request.kind === 'page') return askPage(listing, request);
  return listing.dialect.list.total === 'getGrouping' ? askGrouping(listing) : askFirstPage(listing);
}

async function askPage(listing: PagesToList, request: PageRequest): Promise<void> {
  const { walk, dialect, query, journal, members, client, clock, retries, onAnswer } = listing;
  const { limit, next } = dialect.list;
  const body = pageBody(dialect, query, {
    ...placeOf(request),
    limit: request.limit,
    withTotal: request.withTotal,
  });
  for (let attempt = 0; ; attempt += 1) {
    let checked: CheckedPage | string = '';
    let kept: KeptPage | undefined;
    const answer = await client.request<ParsedPage>(
      { ...body, parse: (bytes, scrub) => parsePage(bytes, limit, scrub) },
      async (page) => {
        checked = checkPage(page, request, next === 'after');
        if (typeof checked !== 'string') kept = await journal.keepPage(request, checked, clock.now());
      },
    );
    onAnswer();
    if (answer.kind === 'refused') {
      if (!isBetweenIds(request) && request.limit === undefined) throw refusedList(answer, body.method, query);
      walk.refused(request);
      return;
    }
    if (kept !== undefined) {
      members.add(kept);
      walk.answered(request, kept.page);
      return;
    }
    if (attempt >= retries) throw malformed(checked, attempt + 1);
  }
}

/** A place that is no member's: not every service takes it. */
function isBetweenIds({ after, before, startsAtId }: PageRequest): boolean {
  return (after !== undefined || before !== undefined) && !startsAtId;
}

async function askGrouping({ walk, dialect, query, journal, client, clock, onAnswer }: PagesToList): Promise<void> {
  const keep = ({ total }: ParsedTotal): Promise<void> => journal.keepTotal(total, clock.now());
  const request = async (): Promise<number | undefined> => {
    const answer = await client.request<ParsedTotal>({ ...totalBody(dialect, query), parse: parseTotal }, keep);
    onAnswer();
    return answer.kind === 'refused' ? undefined : answer.total;
  };
  // One refusal may be that of one server of several.
  walk.totalled((await request()) ?? (await request()));
}

/** The total comes with a page: of the first one, nothing else is read. */
async function askFirstPage({ walk, dialect, query, journal, client, clock, onAnswer }: PagesToList): Promise<void> {
  const body = pageBody(dialect, query, { withTotal: true });
  const answer = await client.request<ParsedPage>(
    { ...body, parse: (bytes, scrub) => parsePage(bytes, dialect.list.limit, scrub) },
    async ({ total }) => {
      if (total !== undefined) await journal.keepTotal(total, clock.now());
    },
  );
  onAnswer();
  walk.totalled(answer.kind === 'refused' ? undefined : answer.total);
}

function placeOf({ after, before, cursor, number }: PageRequest) {
  return {
    after: after === undefined ? undefined : idOfBytes(bytesOfKey(after)),
    before: before === undefined ? undefined : idOfBytes(bytesOfKey(before)),
    cursor,
    page: number,
  };
}

/** A list leads nowhere: its pages would be paid for without an end. */
function circle(how: string, members: number): ExportError {
  return new ExportError('unavailable', `The list leads in a circle: ${how}, twice. ${count(members)} members came.`, {
    todo: 'Nothing was written. Start over with --fresh when the service is repaired, or use another service.',
    facts: { members },
  });
}

/** Passed overrun, in the words of pages, where those are smaller than was requested. */
function overrunOfPages(error: unknown, { walk, dialect }: PagesToList): Error {
  const { largestPage, members, totals } = walk.counts;
  const { limit } = dialect.list;
  const isOfSize = largestPage > 0 && largestPage < limit;
  if (!(error instanceof ExportError) || error.exit !== 'overrun' || !isOfSize) return error as Error;
  const pages = Math.ceil((totals[0] ?? members) / largestPage);
  return new ExportError(
    'overrun',
    `The service gives ${plural(largestPage, 'member')} a page, not ${count(limit)}: ${count(members)} members came, and the calls that full pages would take are spent.`,
    {
      todo: `Answered pages are kept. To resume with a plan of about ${plural(pages, 'page')}, run the same command with --limit ${largestPage}, or allow more calls with --overrun.`,
      facts: { ...error.facts, largestPage, limit },
    },
  );
}

function malformed(why: string, attempts: number): ExportError {
  return new ExportError('unavailable', `The list cannot be walked: ${why}, ${attempts} times in a row.`, {
    todo: 'Nothing was written. A list can be proven only if the service returns ids in order, from the place that is requested. Check list.sort and list.next of the dialect, or use another service.',
    facts: { attempts },
  });
}

function refusedList({ message }: RefusedAnswer, method: string, { filter, address }: ListQuery): ExportError {
  return new ExportError('unavailable', `The service refuses ${method} for the ${filter} ${address}: ${message}.`, {
    todo: 'Check the address, and service.dialect: list.limit is the most members a page. Then run the same command again.',
  });
}
