import { PageByPageWalk } from './page-by-page.ts';
import type { ListVerdict, PageRequest, WalkOptions } from './walk.ts';

/** The walk by the numbers of pages: proven where the totals are equal, all pages were asked, and no id came twice. */
export class NumberedWalk extends PageByPageWalk {
  #number = 1;
  #isRefused = false;
  /** Whether an id came twice is known to who keeps them. */
  readonly #unique: () => number;

  /** @param unique how many members there are, each counted once */
  constructor(options: WalkOptions, unique: () => number) {
    super(options);
    this.#unique = unique;
  }

  verdict(): ListVerdict {
    const { members, total, totals, isWhole } = this.tally;
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
  protected isAtEnd(): boolean {
    const { total, emptyPages, mostEmpty } = this.tally;
    if (this.#isRefused || emptyPages >= mostEmpty) return true;
    return total === undefined ? emptyPages > 0 : this.#number > this.#lastNumber(total);
  }

  protected place(): Pick<PageRequest, 'number'> {
    return { number: this.#number };
  }

  protected moveOn(): void {
    this.#number += 1;
  }

  protected end(): void {
    this.#isRefused = true;
  }

  #lastNumber(total: number): number {
    return Math.ceil(total / this.options.limit) + 1;
  }
}
