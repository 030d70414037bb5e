import type { AnsweredPage, PageRequest, WalkCounts, WalkOptions } from './walk.ts';
import { keyBytes } from '../../../lib/ids/id-bytes.ts';

/** So many empty pages without any member end a walk. */
export const emptyWithoutMember = 17;
/** Pages without members that are allowed: at least so many, and so many for each page with members. */
const leastEmpty = 64;
const emptyPerPage = 4;

/** What was answered so far, and what its sums say. */
export class WalkTally implements WalkCounts {
  readonly #options: WalkOptions;
  readonly totals: number[] = [];
  members = 0;
  inErrors = 0;
  pages = 0;
  emptyPages = 0;
  /** Pages since the last total. */
  #untotalled = 0;
  #hasTotals: boolean;

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#hasTotals = options.total !== 'none';
  }

  add({ withTotal }: PageRequest, { keys, inErrors, total }: AnsweredPage): void {
    this.members += keys.length / keyBytes;
    this.inErrors += inErrors;
    if (keys.length > 0) this.pages += 1;
    else this.emptyPages += 1;
    this.#untotalled += 1;
    if (withTotal) this.addTotal(total);
  }

  addTotal(total: number | undefined): void {
    if (total === undefined) this.#hasTotals = false;
    else this.totals.push(total);
    this.#untotalled = 0;
  }

  /** The first total is still to be asked for. */
  get lacksTotal(): boolean {
    return this.#hasTotals && this.totals.length === 0;
  }

  /** A total is to be asked for after the last page. */
  get lacksLastTotal(): boolean {
    if (!this.#hasTotals) return false;
    return this.#untotalled > 0 || this.totals.length < 2;
  }

  /** The larger total. Undefined while there is none, or if it is below the count: then it says nothing. */
  get total(): number | undefined {
    const most = Math.max(-1, ...this.totals);
    return most < this.members || most < 0 ? undefined : most;
  }

  /** The count is the number that the service or the user knows. */
  get isWhole(): boolean {
    return this.members > 0 ? this.total === this.members || this.#options.expect === this.members : this.total === 0;
  }

  /** An empty page settles its range: a hidden member needs a whole page of dropped rows before it, and there are fewer. */
  get settlesEmpty(): boolean {
    if (this.isWhole) return true;
    const { total } = this;
    return this.#options.totalCounts === 'rows' && total !== undefined && total - this.members < this.#options.limit;
  }

  get mostEmpty(): number {
    const { proofCalls, limit } = this.#options;
    if (proofCalls !== undefined) return proofCalls;
    const { total } = this;
    return total === undefined
      ? Math.max(leastEmpty, emptyPerPage * this.pages)
      : leastEmpty + emptyPerPage * Math.ceil(total / limit);
  }
}
