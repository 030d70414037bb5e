/**
 * What a refusal for size leads to:
 * - `smaller`: it is believed; the ids go in smaller calls
 * - `again`: not yet, where believing it wrongly would multiply the bill; the same call goes once more, to another backend perhaps
 * - `split`: as many ids went well before, so the records of this call may be too large; it is halved, and no other call
 */
export type SizeVerdict = 'smaller' | 'again' | 'split';

export interface SizeBounds {
  /** Most ids a call by the dialect: larger calls are never tried. */
  readonly cap?: number | undefined;
  /** Most ids a call, as an earlier run or another process believed: tried first, once a larger call was refused. */
  readonly hint?: number | undefined;
}

/** A size below this share of the refused one multiplies the bill: it wants a second refusal. */
const cheapShare = 0.1;
/** After so many calls of a smaller size one of four times as many ids is tried; after each refusal of it, twice as many later. */
const firstTrial = 16;
const lastTrial = 1024;
const trialFactor = 4;

const none = { refusals: 0, least: Number.POSITIVE_INFINITY };

/**
 * Finds the largest number of ids that the service takes in a call: the number that a refusal names, else by bisection between what
 * was taken and what was refused. One refusal is about one backend at one moment: what is believed is tested again.
 */
export class CallSize {
  readonly #isFirm: boolean;
  /** Most ids that were taken. One id cannot be cut, so it counts as taken. */
  #taken = 1;
  /** Fewest ids that are believed to be refused. */
  #refused = Number.POSITIVE_INFINITY;
  /** A limit that was named, or believed before. */
  #aim: number | undefined;
  #hint: number | undefined;
  #hasAnswered = false;
  /** A size that was taken before and refused last, and the most ids that were taken since. */
  #doubt: { readonly ids: number; taken: number } | undefined;
  /** Refusals of calls of other ids, while none is believed and since one as large as the least of them was taken. */
  #against: { readonly refusals: number; readonly least: number; readonly first?: string | undefined } = none;
  /** Refusals of other ids so far, over all beliefs. */
  #counted = 0;
  /** So often a larger call showed that a belief was wrong. */
  #refuted = 0;
  /** Smaller calls that were taken since a larger one was tried, and how many there have to be. */
  #since = 0;
  #trialAfter = firstTrial;

  constructor({ cap, hint }: SizeBounds = {}) {
    this.#hint = hint;
    this.#isFirm = cap !== undefined;
    if (cap === undefined) return;
    this.#taken = cap;
    this.#refused = cap + 1;
  }

  /** Whether any call was taken. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** What a call that leaves now knows: see `refusedFor`. */
  get counted(): number {
    return this.#counted;
  }

  /** Most ids a call, once that is believed; Infinity as long as it is not. */
  cap(): number {
    return this.#isSettled() ? this.#taken : Number.POSITIVE_INFINITY;
  }

  /** Whether the service is believed to refuse so many ids, and no trial of them is due. */
  refuses(ids: number): boolean {
    return ids >= this.#refused && ids > (this.trial() ?? 0);
  }

  /** True when it is not known whether the service takes so many ids, and a smaller call may tell as well. */
  isOpen(ids: number): boolean {
    return this.#refused < Number.POSITIVE_INFINITY && ids > this.#taken && ids < this.#refused;
  }

  /** The size that should be tried although it is believed to be too large; undefined when none is due. */
  trial(): number | undefined {
    const isDue = !this.#isFirm && this.#refused < Number.POSITIVE_INFINITY && this.#since >= this.#trialAfter;
    return isDue ? trialFactor * this.#taken : undefined;
  }

  /** The size whose answer narrows the limit most. */
  next(): number {
    if (this.#isSettled()) return this.#taken;
    const aim = this.#aim ?? 0;
    if (aim > this.#taken && aim < this.#refused) return aim;
    return this.#taken === 1 ? Math.ceil(this.#refused / 2) : Math.floor((this.#taken + this.#refused) / 2);
  }

  /** How many ids to request in place of a call that is too large. */
  insteadOf(ids: number): { readonly most: number } | { readonly tries: number } {
    return this.#isSettled() ? { most: this.#taken } : { tries: Math.min(this.next(), ids - 1) };
  }

  taken(ids: number): void {
    this.#hasAnswered = true;
    if (ids >= this.#against.least) this.#against = none;
    if (this.#refused < Number.POSITIVE_INFINITY) this.#since += 1;
    this.#taken = Math.max(this.#taken, ids);
    if (this.#taken >= this.#refused) this.#refute();
    if (this.#doubt !== undefined && ids >= this.#doubt.ids) this.#doubt = undefined;
    else if (this.#doubt !== undefined) this.#doubt.taken = Math.max(this.#doubt.taken, ids);
  }

  refusedFor({
    ids,
    first,
    limit = this.#hint,
    knew = this.#counted,
  }: {
    readonly ids: number;
    /** The first of them. */
    readonly first: string | undefined;
    /** The limit that it names. */
    readonly limit?: number | undefined;
    /** `counted` when it left: a limit that several calls in flight are told at one moment is said once. */
    readonly knew?: number;
  }): SizeVerdict {
    if (ids === 1) return 'split';
    if (ids >= this.#refused) return this.#confirmed(ids);
    const names = limit !== undefined && limit < ids;
    const isDoubt = !names && ids <= this.#taken && (this.#doubt === undefined || ids < this.#doubt.ids);
    if (isDoubt) this.#doubt = { ids, taken: 1 };
    if (this.#refused === Number.POSITIVE_INFINITY) {
      const { refusals, least } = this.#against;
      // The pieces of a call begin with its first id: one record may spoil them all.
      const isFirstTold = !names || knew === this.#counted;
      const isOther = isFirstTold && (first === undefined || first !== this.#against.first);
      if (isOther) {
        this.#counted += 1;
        this.#against = { refusals: refusals + 1, least: Math.min(least, ids), first };
      }
      if (isDoubt || this.#against.refusals < this.#needed(ids, names ? limit : undefined))
        return names ? 'again' : 'split';
    } else if (isDoubt) return 'split';
    if (ids <= this.#taken) this.#taken = this.#doubt?.taken ?? 1;
    this.#doubt = undefined;
    this.#refused = Math.min(this.#refused, names ? limit + 1 : ids);
    this.#taken = Math.min(this.#taken, this.#refused - 1);
    if (names) this.#aim = limit;
    this.#since = 0;
    return 'smaller';
  }

  /** What an earlier run was told is a hint to this one. */
  hints(most: number): void {
    this.#hint = Math.min(most, this.#hint ?? most);
  }

  /** Refusals of other ids that a first belief needs: one where it is named, cheap, and no larger call was taken. */
  #needed(refused: number, limit = 0): number {
    return (limit >= Math.max(this.#taken, cheapShare * refused) ? 1 : 2) * 2 ** this.#refuted;
  }

  /** A call that is believed to be too large was refused: it had left before, or was a trial. */
  #confirmed(ids: number): SizeVerdict {
    if (ids <= (this.trial() ?? 0)) {
      this.#since = 0;
      this.#trialAfter = Math.min(lastTrial, 2 * this.#trialAfter);
    }
    return 'smaller';
  }

  #refute(): void {
    this.#refuted += 1;
    this.#refused = Number.POSITIVE_INFINITY;
    this.#against = none;
    this.#aim = undefined;
    this.#hint = undefined;
    this.#since = 0;
    this.#trialAfter = firstTrial;
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
