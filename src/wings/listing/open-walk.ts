import { usualAtOnce } from '../../core/client/judgement/call-limit.ts';
import { isEmbedded } from '../../core/job/job-schema.ts';
import type { ListContext, ListIdsRequest } from './list-request.ts';
import type { ListSettings } from './list-start.ts';
import { RangeWalk } from './walk/range-walk.ts';
import type { Walk, WalkOptions, AnsweredPage, PageRequest } from './walk/walk.ts';
import { totalOf } from './wire/list-body.ts';
import { type Place, PageByPageWalk } from './walk/page-by-page.ts';
import type { ListFacts } from './walk/verdict-of.ts';
import { keyBytes } from '../../lib/ids/asset-id.ts';
import { keyAt } from './walk/keys.ts';

/** Where a page ends, and whether it still ended there when all pages were read. */
interface Boundary {
  readonly members: number;
  readonly last: bigint;
  /** It shows which id is the last one on the page. */
  readonly isFull: boolean;
  isUnmoved?: boolean;
}

/**
 * The walk by the numbers of pages. Members move from page to page while it reads, and equal totals say nothing of that: a list of
 * more than one page is proven only if a second pass finds that every page still ends where it did.
 */
export class NumberedWalk extends PageByPageWalk {
  #number = 1;
  #isLastEmpty = false;
  readonly #boundaries = new Map<number, Boundary>();
  /** The service takes the numbers of pages of one member. */
  #takesSmall = true;

  override get planned(): number {
    return this.tally.planned + this.tally.fullPages;
  }

  override answered(request: PageRequest, page: AnsweredPage): void {
    if (request.limit === undefined) {
      super.answered(request, page);
      return;
    }
    this.ended();
    this.tally.addKeys(page.keys);
    const boundary = this.#boundaries.get((request.number ?? 1) / this.options.limit);
    if (boundary !== undefined) boundary.isUnmoved = endOf(page) === boundary.last;
  }

  override refused(request: PageRequest): void {
    super.refused(request);
    if (request.limit !== undefined) this.#takesSmall = false;
  }

  /** Without a total, an empty page is taken for the end: that proves nothing. */
  protected isAtEnd(): boolean {
    const { total, emptyPages, lacking } = this.tally;
    if (this.isRefused || !this.tally.mayProve()) return true;
    if (total === undefined) return emptyPages > 0;
    return this.#number > this.#lastNumber(total) && (this.#isLastEmpty || lacking === 0);
  }

  protected place(): Place {
    return { number: this.#number };
  }

  protected moveOn(page: AnsweredPage): void {
    this.#isLastEmpty = page.keys.length === 0;
    if (!this.#isLastEmpty) this.#boundaries.set(this.#number, this.#boundaryOf(page));
    this.#number += 1;
  }

  protected leadsOn(): boolean {
    return true;
  }

  protected cameAgain({ number = 1 }: PageRequest, page: AnsweredPage): void {
    const before = this.#boundaries.get(number);
    const now = this.#boundaryOf(page);
    // More members than before: the first answer lacked some.
    if (now.members > (before?.members ?? 0)) this.#boundaries.set(number, now);
    else if (before !== undefined) before.isUnmoved = now.members === before.members && now.last === before.last;
  }

  protected override boundary(): PageRequest | undefined {
    const { tally } = this;
    const mayBeProven = tally.isWhole || this.#hasAllPages;
    if (this.isRefused || !mayBeProven || tally.repeats > 0 || tally.lacking > this.dropped()) return undefined;
    const open = this.#inner.find(([, { isUnmoved }]) => isUnmoved !== true);
    if (open === undefined || open[1].isUnmoved === false) return undefined;
    const [number, { isFull }] = open;
    const page = { kind: 'page', startsAtId: false, withTotal: false } as const;
    const { limit } = this.options;
    return isFull && this.#takesSmall ? { ...page, number: number * limit, limit: 1 } : { ...page, number };
  }

  protected shown(): Pick<ListFacts, 'shown' | 'hasMoved' | 'otherwise'> {
    const moved = this.#inner.find(([, { isUnmoved }]) => isUnmoved !== true);
    if (moved !== undefined) {
      const [number, { isUnmoved }] = moved;
      const why = isUnmoved === false ? 'ends at another id now: members moved' : 'was not read again';
      return { hasMoved: true, otherwise: { why: `page ${number} ${why} while the pages were read` } };
    }
    if (this.#hasAllPages) return { shown: 'pages', otherwise: {} };
    return { otherwise: { why: 'numbers of pages prove nothing without equal totals' } };
  }

  /** All numbers of pages were asked, between equal totals. */
  get #hasAllPages(): boolean {
    const { total, totals } = this.tally;
    const areEqual = totals.length > 1 && totals.every((each) => each === totals[0]);
    return total !== undefined && areEqual && this.#number > this.#lastNumber(total);
  }

  /** The boundaries of pages that others follow. */
  get #inner(): [number, Boundary][] {
    return [...this.#boundaries].sort(([one], [other]) => one - other).slice(0, -1);
  }

  #boundaryOf(page: AnsweredPage): Boundary {
    const members = page.keys.length / keyBytes;
    return {
      members,
      last: endOf(page),
      isFull: members === this.options.limit && page.inErrors === 0 && page.last !== undefined,
    };
  }

  #lastNumber(total: number): number {
    return Math.ceil(total / this.options.limit) + 1;
  }
}

/** The last member: by the order of the service, where that is known. */
function endOf({ last, keys }: AnsweredPage): bigint {
  return last ?? (keys.length === 0 ? -1n : keyAt(keys, keys.length - keyBytes));
}

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
    concurrency: usualAtOnce(job.service.concurrency),
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

/** The walk by the tokens of answers. */
export class TokenWalk extends PageByPageWalk<
  WalkOptions & {
    /** A source states that an answer has a token as long as there are rows behind it. */
    readonly endsByToken: boolean;
  }
> {
  /** Of the next page; undefined before the first and behind the last. */
  #cursor: string | undefined;
  /** Of the page that was answered last. */
  #last: string | undefined;
  #isOver = false;

  protected isAtEnd(): boolean {
    return this.#isOver || this.isRefused || !this.tally.mayProve();
  }

  protected place(): Place {
    return { cursor: this.#cursor };
  }

  protected moveOn({ cursor }: AnsweredPage): void {
    this.#last = this.#isOver ? this.#last : this.#cursor;
    this.#isOver = cursor === undefined;
    this.#cursor = cursor;
  }

  protected leadsOn({ cursor }: AnsweredPage): boolean {
    return cursor !== undefined;
  }

  /** The last page may have lost its token the first time. */
  protected cameAgain({ cursor }: PageRequest, page: AnsweredPage): void {
    const isLast = this.#isOver && cursor === this.#last;
    if (isLast && page.cursor !== undefined && !this.tally.hasAsked({ cursor: page.cursor })) this.moveOn(page);
  }

  protected shown(): Pick<ListFacts, 'shown' | 'otherwise'> {
    const { mostEmpty } = this.tally;
    const isOver = this.#isOver && this.#cursor === undefined;
    if (isOver && this.options.endsByToken) return { shown: 'token', otherwise: {} };
    const why = this.tally.mayProve()
      ? 'no source states that an answer without a token is the last'
      : `${mostEmpty} pages came back empty or were requested again, which is the limit`;
    return { otherwise: { why } };
  }
}
