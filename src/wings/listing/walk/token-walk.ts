import { PageByPageWalk } from './page-by-page.ts';
import type { AnsweredPage, ListVerdict, PageRequest, WalkOptions } from './walk.ts';

export interface TokenWalkOptions extends WalkOptions {
  /** A source states that an answer has a token as long as there are rows behind it. */
  readonly endsByToken: boolean;
}

/** The walk by the tokens of answers. Such a list has no places, so nothing is asked twice. */
export class TokenWalk extends PageByPageWalk<TokenWalkOptions> {
  /** Of the next page; undefined before the first and behind the last. */
  #cursor: string | undefined;
  #isOver = false;

  verdict(): ListVerdict {
    const { members, total, isWhole, emptyPages, mostEmpty } = this.tally;
    if (members === 0) return { proof: 'none', why: 'no members' };
    if (total === members) return { proof: 'total' };
    if (this.#isOver && this.#cursor === undefined && this.options.endsByToken) return { proof: 'token' };
    if (isWhole) return { proof: 'expect' };
    if (emptyPages >= mostEmpty)
      return { proof: 'none', why: `${emptyPages} pages came back empty, which is the limit` };
    return { proof: 'none', why: 'no source states that an answer without a token is the last' };
  }

  protected isAtEnd(): boolean {
    return this.#isOver || this.tally.emptyPages >= this.tally.mostEmpty;
  }

  protected place(): Pick<PageRequest, 'cursor'> {
    return { cursor: this.#cursor };
  }

  protected moveOn({ cursor }: AnsweredPage): void {
    // A token that does not change would be asked for ever.
    this.#isOver = cursor === undefined || cursor === this.#cursor;
    this.#cursor = cursor;
  }

  protected end(): void {
    this.#isOver = true;
  }
}
