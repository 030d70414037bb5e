import { usualAtOnce } from '../../core/client/judgement/call-limit.ts';
import { isEmbedded } from '../../core/job/job-schema.ts';
import type { ListContext, ListIdsRequest } from './list-request.ts';
import type { ListSettings } from './list-start.ts';
import { NumberedWalk } from './walk/numbered-walk.ts';
import { RangeWalk } from './walk/range-walk.ts';
import type { Walk, WalkOptions, AnsweredPage, PageRequest } from './walk/walk.ts';
import { totalOf } from './wire/list-body.ts';
import { type Place, PageByPageWalk } from './walk/page-by-page.ts';
import type { ListFacts } from './walk/verdict-of.ts';

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
