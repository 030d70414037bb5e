import { HashSet128 } from '../../../lib/hash/hash-set-128.ts';
import { keyBytes } from '../../../lib/ids/asset-id.ts';
import type { AnsweredPage, PageRequest, WalkCounts, WalkOptions } from './walk.ts';

/** So many empty pages without any member end a walk. */
export const emptyWithoutMember = 17;
/** Calls for empty pages and for pages requested again: so many, and so many for each full page of the first total. */
const leastEmpty = 64;
const emptyPerPage = 4;
/** Two totals, and one more if the list grew. */
const besidePages = 3;

/** A page and all answers to it. */
export interface AskedPage {
  readonly request: PageRequest;
  times: number;
  /** It came with the token of another page. */
  hasToken: boolean;
  /** Members of its largest answer. */
  members: number;
  /** Members that no other page showed before. */
  fresh: number;
  /** Members that another page showed before: of the answer that has fewest. */
  repeats: number;
  inErrors: number;
}

/** What was answered so far, and what its sums say. */
export class WalkTally implements WalkCounts {
  readonly #options: WalkOptions;
  readonly #seen = new HashSet128();
  readonly #asked = new Map<string, AskedPage>();
  readonly totals: number[] = [];
  inErrors = 0;
  pages = 0;
  emptyPages = 0;
  askedAgain = 0;
  largestPage = 0;
  /** Pages since the last total. */
  #untotalled = 0;
  #hasTotals: boolean;

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#hasTotals = options.total !== 'none';
  }

  /** Takes an answer into account. A place that was requested before is the same page. */
  add(request: PageRequest, { keys, inErrors, total, cursor }: AnsweredPage): AskedPage {
    const members = keys.length / keyBytes;
    const fresh = this.addKeys(keys);
    const before = this.#asked.get(placeKey(request));
    const page = before ?? { request, times: 0, hasToken: false, members: 0, fresh: 0, repeats: members, inErrors: 0 };
    if (before !== undefined) this.askedAgain += 1;
    else this.#asked.set(placeKey(request), page);
    if (members === 0 && before === undefined) this.emptyPages += 1;
    else if (members > 0 && page.members === 0) {
      this.pages += 1;
      if (before !== undefined) this.emptyPages -= 1;
    }
    this.inErrors += Math.max(0, inErrors - page.inErrors);
    page.inErrors = Math.max(page.inErrors, inErrors);
    page.repeats = page.times === 0 ? members - fresh : Math.min(page.repeats, members - fresh);
    page.times += 1;
    page.hasToken ||= cursor !== undefined;
    page.fresh += fresh;
    page.members = Math.max(page.members, members);
    this.largestPage = Math.max(this.largestPage, members);
    if (before === undefined || fresh > 0) this.#untotalled += 1;
    if (request.withTotal && before === undefined) this.addTotal(total);
    return page;
  }

  addTotal(total: number | undefined): void {
    if (total === undefined) this.#hasTotals = false;
    else this.totals.push(total);
    this.#untotalled = 0;
  }

  /** Whether a place was requested before. */
  hasAsked(place: Pick<PageRequest, 'cursor' | 'number'>): boolean {
    return this.#asked.has(placeKey(place));
  }

  /** All pages, in the order in which they were first answered. */
  get asked(): Iterable<AskedPage> {
    return this.#asked.values();
  }

  /** Members, each counted once. */
  get members(): number {
    return this.#seen.size;
  }

  /** Members that came on two pages. */
  get repeats(): number {
    let repeats = 0;
    for (const page of this.#asked.values()) repeats += page.repeats;
    return repeats;
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

  /** Members that the service or the user counts beyond those that came. */
  get lacking(): number {
    return Math.max(0, Math.max(this.totals.at(-1) ?? 0, this.#options.expect ?? 0) - this.members);
  }

  /** An empty page settles its range: a hidden member needs a whole page of dropped rows before it, and there are fewer. */
  get settlesEmpty(): boolean {
    if (this.isWhole) return true;
    const { total } = this;
    return this.#options.totalCounts === 'rows' && total !== undefined && total - this.members < this.#options.limit;
  }

  get mostEmpty(): number {
    return this.#options.proofCalls ?? leastEmpty + emptyPerPage * this.#fullPages(0);
  }

  /** Whether one more page may come back empty, or be requested again. */
  mayProve(underWay = 0): boolean {
    return this.spentOnProof + underWay < this.mostEmpty;
  }

  get spentOnProof(): number {
    return this.emptyPages + this.askedAgain;
  }

  get planned(): number {
    return this.fullPages + besidePages;
  }

  /** Without a total, members earn pages: what an answer costs must not be said by the answer. */
  get fullPages(): number {
    return this.#fullPages(this.members);
  }

  /** By the first total. */
  #fullPages(otherwise: number): number {
    return Math.ceil((this.totals[0] ?? otherwise) / this.#options.limit);
  }

  /** Adds ids to the members. @returns how many are new */
  addKeys(keys: Uint8Array): number {
    const hashes = new Uint32Array(keys.length / 8);
    const bytes = new Uint8Array(hashes.buffer);
    // Ids are spread like hashes: half of each is as good as one.
    for (let at = 0; at < keys.length; at += keyBytes) bytes.set(keys.subarray(at, at + keyBytes / 2), at / 2);
    return this.#seen.addAll(hashes).reduce((sum, isNew) => sum + isNew, 0);
  }
}

function placeKey({ after, before, cursor, number }: Partial<PageRequest>): string {
  return `${after ?? ''} ${before ?? ''} ${number ?? ''} ${cursor ?? ''}`;
}
