import { WalkTally } from './walk-tally.ts';
import type { AnsweredPage, ListRequest, ListVerdict, PageRequest, Walk, WalkCounts, WalkOptions } from './walk.ts';

/** A walk that requests one page after another: the totals around the pages, and what is under way. */
export abstract class PageByPageWalk<Options extends WalkOptions = WalkOptions> implements Walk {
  protected readonly options: Options;
  protected readonly tally: WalkTally;
  #isUnderWay = false;

  constructor(options: Options) {
    this.options = options;
    this.tally = new WalkTally(options);
  }

  get counts(): WalkCounts {
    return this.tally;
  }

  get mostEmpty(): number {
    return this.tally.mostEmpty;
  }

  next(): readonly ListRequest[] {
    if (this.#isUnderWay) return [];
    const isAtEnd = this.isAtEnd();
    const lacks = isAtEnd ? this.tally.lacksLastTotal : this.options.total === 'alone' && this.tally.lacksTotal;
    if (isAtEnd && !lacks) return [];
    this.#isUnderWay = true;
    if (lacks) return [{ kind: 'total' }];
    const withTotal = this.options.total === 'withPage' && this.tally.lacksTotal;
    return [{ kind: 'page', ...this.place(), startsAtId: false, withTotal }];
  }

  answered(request: PageRequest, page: AnsweredPage): void {
    this.#isUnderWay = false;
    this.tally.add(request, page);
    this.moveOn(page);
  }

  totalled(total: number | undefined): void {
    this.#isUnderWay = false;
    this.tally.addTotal(total);
  }

  resumeTotal(total: number): void {
    this.tally.addTotal(total);
  }

  refused(): void {
    this.#isUnderWay = false;
    this.end();
  }

  resume(request: PageRequest, page: AnsweredPage): void {
    this.answered(request, page);
  }

  abstract verdict(): ListVerdict;

  /** Whether no page is left to request. */
  protected abstract isAtEnd(): boolean;

  /** Where the next page is. */
  protected abstract place(): Pick<PageRequest, 'cursor' | 'number'>;

  protected abstract moveOn(page: AnsweredPage): void;

  /** No page is requested any more. */
  protected abstract end(): void;
}
