import { type Place, PageByPageWalk } from './page-by-page.ts';
import type { ListFacts } from './verdict-of.ts';
import type { AnsweredPage, PageRequest, WalkOptions } from './walk.ts';

export interface TokenWalkOptions extends WalkOptions {
  /** A source states that an answer has a token as long as there are rows behind it. */
  readonly endsByToken: boolean;
}

/** The walk by the tokens of answers. */
export class TokenWalk extends PageByPageWalk<TokenWalkOptions> {
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
