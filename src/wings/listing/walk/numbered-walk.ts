import { WalkTally } from './walk-tally.ts';
import type { AnsweredPage, ListRequest, PageRequest, ListVerdict, Walk, WalkCounts, WalkOptions } from './walk.ts';

/** The walk by the numbers of pages, one after another: proven where the totals are equal, all pages were asked, and no id came twice. */
export class NumberedWalk implements Walk {
  readonly #options: WalkOptions;
  readonly #tally: WalkTally;
  #number = 1;
  #isUnderWay = false;
  #isRefused = false;
  /** Whether an id came twice is known to who keeps them. */
  readonly #unique: () => number;

  /** @param unique how many members there are, each counted once */
  constructor(options: WalkOptions, unique: () => number) {
    this.#options = options;
    this.#tally = new WalkTally(options);
    this.#unique = unique;
  }

  get counts(): WalkCounts {
    return this.#tally;
  }

  get mostEmpty(): number {
    return this.#tally.mostEmpty;
  }

  next(): readonly ListRequest[] {
    if (this.#isUnderWay) return [];
    const isAtEnd = this.#isRefused || this.#isBehindLast();
    const lacks = isAtEnd ? this.#tally.lacksLastTotal : this.#options.total === 'alone' && this.#tally.lacksTotal;
    if (isAtEnd && !lacks) return [];
    this.#isUnderWay = true;
    if (lacks) return [{ kind: 'total' }];
    const withTotal = this.#options.total === 'withPage' && this.#tally.lacksTotal;
    return [{ kind: 'page', number: this.#number, startsAtId: false, withTotal }];
  }

  answered(request: PageRequest, page: AnsweredPage): void {
    this.#isUnderWay = false;
    this.#tally.add(request, page);
    this.#number += 1;
  }

  totalled(total: number | undefined): void {
    this.#isUnderWay = false;
    this.#tally.addTotal(total);
  }

  resumeTotal(total: number): void {
    this.#tally.addTotal(total);
  }

  refused(): void {
    this.#isUnderWay = false;
    this.#isRefused = true;
  }

  resume(request: PageRequest, page: AnsweredPage): void {
    this.answered(request, page);
  }

  verdict(): ListVerdict {
    const { members, total, totals, isWhole } = this.#tally;
    if (members === 0) return { proof: 'none', why: 'no members' };
    if (this.#unique() < members)
      return { proof: 'none', why: 'an id came twice: the pages moved while they were read' };
    if (total === members) return { proof: 'total' };
    const areEqual = totals.length > 1 && totals.every((each) => each === totals[0]);
    if (total !== undefined && areEqual && this.#number > this.#lastNumber(total)) return { proof: 'pages' };
    if (isWhole) return { proof: 'expect' };
    return { proof: 'none', why: 'numbers of pages prove nothing without equal totals' };
  }

  /** Without a total, an empty page is taken for the end: that proves nothing. */
  #isBehindLast(): boolean {
    const { total, emptyPages, mostEmpty } = this.#tally;
    if (emptyPages >= mostEmpty) return true;
    return total === undefined ? emptyPages > 0 : this.#number > this.#lastNumber(total);
  }

  #lastNumber(total: number): number {
    return Math.ceil(total / this.#options.limit) + 1;
  }
}
