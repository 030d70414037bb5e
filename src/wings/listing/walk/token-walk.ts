import { WalkTally } from './walk-tally.ts';
import type { AnsweredPage, ListRequest, PageRequest, ListVerdict, Walk, WalkCounts, WalkOptions } from './walk.ts';

export interface TokenWalkOptions extends WalkOptions {
  /** A source states that an answer has a token as long as there are rows behind it. */
  readonly endsByToken: boolean;
}

/** The walk by the tokens of answers, one page after another. Such a list has no places, so nothing is asked twice. */
export class TokenWalk implements Walk {
  readonly #options: TokenWalkOptions;
  readonly #tally: WalkTally;
  /** Of the next page; undefined before the first and behind the last. */
  #cursor: string | undefined;
  #isOver = false;
  #isUnderWay = false;

  constructor(options: TokenWalkOptions) {
    this.#options = options;
    this.#tally = new WalkTally(options);
  }

  get counts(): WalkCounts {
    return this.#tally;
  }

  get mostEmpty(): number {
    return this.#tally.mostEmpty;
  }

  next(): readonly ListRequest[] {
    if (this.#isUnderWay) return [];
    const isAtEnd = this.#isOver || this.#tally.emptyPages >= this.#tally.mostEmpty;
    const lacks = isAtEnd ? this.#tally.lacksLastTotal : this.#options.total === 'alone' && this.#tally.lacksTotal;
    if (isAtEnd && !lacks) return [];
    this.#isUnderWay = true;
    if (lacks) return [{ kind: 'total' }];
    const withTotal = this.#options.total === 'withPage' && this.#tally.lacksTotal;
    return [{ kind: 'page', cursor: this.#cursor, startsAtId: false, withTotal }];
  }

  answered(request: PageRequest, page: AnsweredPage): void {
    this.#isUnderWay = false;
    this.#tally.add(request, page);
    // A token that does not change would be asked for ever.
    this.#isOver = page.cursor === undefined || page.cursor === this.#cursor;
    this.#cursor = page.cursor;
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
    this.#isOver = true;
  }

  resume(request: PageRequest, page: AnsweredPage): void {
    this.answered(request, page);
  }

  verdict(): ListVerdict {
    const { members, total, isWhole, emptyPages, mostEmpty } = this.#tally;
    if (members === 0) return { proof: 'none', why: 'no members' };
    if (total === members) return { proof: 'total' };
    if (this.#isOver && this.#cursor === undefined && this.#options.endsByToken) return { proof: 'token' };
    if (isWhole) return { proof: 'expect' };
    if (emptyPages >= mostEmpty)
      return { proof: 'none', why: `${emptyPages} pages came back empty, which is the limit` };
    return { proof: 'none', why: 'no source states that an answer without a token is the last' };
  }
}
