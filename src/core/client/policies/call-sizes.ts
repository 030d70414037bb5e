/** What an answer shows about the size of its call. */
export interface AnsweredSize {
  readonly ids: number;
  /** False: the service refused the call for its size. */
  readonly isTaken: boolean;
  /** The limit that the refusal names. */
  readonly limit?: number | undefined;
}

/**
 * Finds the largest number of ids that the service takes in a call: the number that a refusal names, else by bisection
 * between what was taken and what was refused.
 */
export class CallSizes {
  /** Most ids that were taken. One id cannot be cut, so it counts as taken. */
  #taken = 1;
  /** Fewest ids that were refused. */
  #refused = Number.POSITIVE_INFINITY;
  #named: number | undefined;
  /** A size that was taken before and refused last, and the most ids that were taken since. */
  #doubt: { readonly ids: number; taken: number } | undefined;

  /** @param cap most ids a call, as an earlier run found out */
  constructor(cap?: number) {
    if (cap === undefined) return;
    this.#taken = cap;
    this.#refused = cap + 1;
  }

  /** Most ids a call, once that is known for sure; Infinity as long as it is not. */
  cap(): number {
    return this.#isSettled() ? this.#taken : Number.POSITIVE_INFINITY;
  }

  refuses(ids: number): boolean {
    return ids >= this.#refused;
  }

  /** True when it is not known whether the service takes so many ids, and a smaller call may tell as well. */
  isOpen(ids: number): boolean {
    return this.#refused < Number.POSITIVE_INFINITY && ids > this.#taken && ids < this.#refused;
  }

  /** The size whose answer narrows the limit most. */
  next(): number {
    if (this.#isSettled()) return this.#taken;
    const named = this.#named ?? 0;
    if (named > this.#taken && named < this.#refused) return named;
    return this.#taken === 1 ? Math.ceil(this.#refused / 2) : Math.floor((this.#taken + this.#refused) / 2);
  }

  /** How many ids to request in place of a call that is too large. */
  insteadOf(ids: number): { readonly most: number } | { readonly tries: number } {
    return this.#isSettled() ? { most: this.#taken } : { tries: Math.min(this.next(), ids - 1) };
  }

  /** Takes an answer into account. False of a refusal that is due to the records of the call, not to their number. */
  learn({ ids, isTaken, limit }: AnsweredSize): boolean {
    return isTaken ? this.#take(ids) : this.#refuse(ids, limit);
  }

  #take(ids: number): true {
    this.#taken = Math.max(this.#taken, ids);
    if (this.#taken >= this.#refused) this.#refused = Number.POSITIVE_INFINITY;
    if (this.#doubt !== undefined && ids >= this.#doubt.ids) this.#doubt = undefined;
    else if (this.#doubt !== undefined) this.#doubt.taken = Math.max(this.#doubt.taken, ids);
    return true;
  }

  #refuse(ids: number, limit: number | undefined): boolean {
    if (ids === 1) return false;
    const names = limit !== undefined && limit < ids;
    // As many went well before: the records of this call may be too large. If not, the next refusal will show it.
    if (!names && ids <= this.#taken && (this.#doubt === undefined || ids < this.#doubt.ids)) {
      this.#doubt = { ids, taken: 1 };
      return false;
    }
    if (ids <= this.#taken) this.#taken = this.#doubt?.taken ?? 1;
    this.#doubt = undefined;
    this.#refused = Math.min(this.#refused, names ? limit + 1 : ids);
    this.#taken = Math.min(this.#taken, this.#refused - 1);
    if (names) this.#named = limit;
    return true;
  }

  #isSettled(): boolean {
    return this.#refused - this.#taken === 1;
  }
}

/** A number behind words of a limit, unless a unit of bytes, time or pace follows it. */
const limitWords =
  /(?:at most|up to|\bmax(?:imum)?\b|\blimit(?:ed)?\b|exceeds?|more than|less than or equal to|greater than|<=|≤)[^\d]{0,40}?(\d[\d,_]*)(?!\d|\.\d|\s*(?:[kmg]i?b\b|bytes|ms\b|s\b|sec(?:ond)?s?\b|min(?:ute)?s?\b|%|\/))/gi;

/** The number of ids that a refusal names as the most; undefined when it names none, or several. */
export function namedLimit(words: string, ids: number): number | undefined {
  const numbers = Array.from(words.matchAll(limitWords), ([, digits = '']) => Number(digits.replaceAll(/[,_]/g, '')));
  const limits = new Set(numbers.filter((number) => number >= 1 && number < ids));
  return limits.size === 1 ? [...limits][0] : undefined;
}
