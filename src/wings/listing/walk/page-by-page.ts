import { plural } from '../../../lib/format-text.ts';
import { type ListFacts, verdictOf } from './verdict-of.ts';
import { type AskedPage, WalkTally } from './walk-tally.ts';
import type { AnsweredPage, ListRequest, ListVerdict, PageRequest, Walk, WalkCounts, WalkOptions } from './walk.ts';

/** Where a page of such a walk is. */
export type Place = Pick<PageRequest, 'cursor' | 'number'>;

/** From so many pages on, pages of one size show the size of all. */
const pagesOfOneSize = 2;

/**
 * A walk that requests one page after another: the totals around the pages, and what is under way. A page that leads nowhere is
 * requested once more at once; one that seems to lack members, once more at the end. So the state follows from the answers alone.
 */
export abstract class PageByPageWalk<Options extends WalkOptions = WalkOptions> implements Walk {
  protected readonly options: Options;
  protected readonly tally: WalkTally;
  /** No page is requested any more. */
  protected isRefused = false;
  #isUnderWay = false;
  #doubtful: AskedPage | undefined;
  #circle: string | undefined;

  constructor(options: Options) {
    this.options = options;
    this.tally = new WalkTally(options);
  }

  get counts(): WalkCounts {
    return this.tally;
  }

  get planned(): number {
    return this.tally.planned;
  }

  get mostEmpty(): number {
    return this.tally.mostEmpty;
  }

  get circle(): string | undefined {
    return this.#circle;
  }

  next(): readonly ListRequest[] {
    if (this.#isUnderWay || this.#circle !== undefined) return [];
    const request = this.#nextRequest();
    this.#isUnderWay = request !== undefined;
    return request === undefined ? [] : [request];
  }

  answered(request: PageRequest, page: AnsweredPage): void {
    this.#isUnderWay = false;
    const asked = this.tally.add(request, page);
    if (asked.times > 1 && asked !== this.#doubtful) {
      this.cameAgain(request, page);
      return;
    }
    const nowhere = this.#leadsNowhere(asked, page);
    if (nowhere !== undefined && asked.times === 1) this.#doubtful = asked;
    else {
      this.#doubtful = undefined;
      this.#circle = nowhere;
      if (nowhere === undefined) this.moveOn(page);
    }
  }

  totalled(total: number | undefined): void {
    this.#isUnderWay = false;
    this.tally.addTotal(total);
  }

  resumeTotal(total: number): void {
    this.tally.addTotal(total);
  }

  refused(request: PageRequest): void {
    this.isRefused = request.limit === undefined;
    this.#isUnderWay = false;
  }

  /** What was under way is answered. */
  protected ended(): void {
    this.#isUnderWay = false;
  }

  resume(request: PageRequest, page: AnsweredPage): void {
    this.answered(request, page);
  }

  verdict(): ListVerdict {
    const { members, totals, repeats } = this.tally;
    const restCalls = this.#doubtedPages().length;
    const rest = restCalls === 0 ? {} : { restCalls };
    const doubt = restCalls === 0 ? undefined : `${plural(restCalls, 'page')} without members came only once`;
    const { otherwise, ...shown } = this.shown();
    const facts = { members, totals, repeats, dropped: this.dropped(), expect: this.options.expect };
    return verdictOf({ ...facts, doubt, ...shown, otherwise: { ...otherwise, ...rest } });
  }

  /** Whether no new page is left to request. */
  protected abstract isAtEnd(): boolean;

  /** Where the next page is. */
  protected abstract place(): Place;

  protected abstract moveOn(page: AnsweredPage): void;

  /** Whether a page was expected to be followed by others. */
  protected abstract leadsOn(page: AnsweredPage): boolean;

  /** What the way of the walk shows. */
  protected abstract shown(): Pick<ListFacts, 'shown' | 'hasMoved' | 'otherwise'>;

  /** A page that was requested once more at the end. */
  protected abstract cameAgain(request: PageRequest, page: AnsweredPage): void;

  /** What is requested when all is read, and nothing lacks. */
  protected boundary(): PageRequest | undefined {
    return undefined;
  }

  #nextRequest(): ListRequest | undefined {
    if (this.#doubtful !== undefined) return this.#doubtful.request;
    const { tally, options } = this;
    if (!this.isAtEnd()) {
      if (options.total === 'alone' && tally.lacksTotal) return { kind: 'total' };
      const withTotal = options.total === 'withPage' && tally.lacksTotal;
      return { kind: 'page', ...this.place(), startsAtId: false, withTotal };
    }
    if (tally.lacksLastTotal) return { kind: 'total' };
    const [again] = tally.mayProve() ? this.#doubtedPages() : [];
    return again?.request ?? this.boundary();
  }

  /** How a page leads nowhere: to a token that was seen before, or on, without a new member. */
  #leadsNowhere({ fresh }: AskedPage, page: AnsweredPage): string | undefined {
    const { cursor, keys } = page;
    if (cursor !== undefined && this.tally.hasAsked({ cursor })) return `the token ${shortened(cursor)} came before`;
    if (keys.length === 0 || fresh > 0 || !this.leadsOn(page)) return undefined;
    const { number } = this.place();
    return `the page ${number === undefined ? `before the token ${shortened(cursor ?? '')}` : number} has no new member`;
  }

  /** Pages to request once more: empty ones that members follow, and short ones under a total that says more; the shortest first. */
  #doubtedPages(): AskedPage[] {
    const { tally } = this;
    if (tally.isWhole || this.isRefused) return [];
    const asked = [...tally.asked];
    const last = asked.findLastIndex(({ members }) => members > 0);
    const rowsOf = this.#rowsOf();
    const lacksMore = tally.lacking > this.dropped();
    const isDoubted = ({ times, members, hasToken, request }: AskedPage, at: number): boolean => {
      if (times > 1) return false;
      if (at < last && members === 0) return true;
      // The last token may be lost, however full its page is.
      return lacksMore && (members < rowsOf(at) || (!hasToken && request.number === undefined));
    };
    return asked.filter(isDoubted).sort((one, other) => one.members - other.members);
  }

  /** Rows that pages lacked at both of their answers. How many the last token leads to is not known, so its page counts nothing. */
  protected dropped(): number {
    const rowsOf = this.#rowsOf();
    let dropped = 0;
    for (const [at, { times, members, hasToken, request }] of [...this.tally.asked].entries())
      if (times > 1 && (hasToken || request.number !== undefined)) dropped += Math.max(0, rowsOf(at) - members);
    return dropped;
  }

  /** How many rows of the index a page takes, by its place: all are full up to the total. If most pages have one size, it is theirs. */
  #rowsOf(): (at: number) => number {
    const { limit } = this.options;
    const { totals, largestPage, pages, asked } = this.tally;
    const ofLargest = [...asked].filter(({ members }) => members === largestPage).length;
    const size = pages >= pagesOfOneSize && 2 * ofLargest > pages ? largestPage : limit;
    const total = totals.at(-1) ?? Number.POSITIVE_INFINITY;
    return (at) => Math.max(0, Math.min(size, total - at * size));
  }
}

/** Enough of a token to find it. */
function shortened(token: string): string {
  return token.length > 40 ? `${token.slice(0, 40)}…` : token;
}
