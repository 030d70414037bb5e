/** What to look at where no id of a list is an asset. */
export const noAssetAdvice =
  'Wallets and token accounts are no assets, and a service of another network does not know them: check the list and service.url.';

/** An answered call, as far as it tells of absence. */
export interface WeighedCall {
  readonly asked: number;
  /** Ids of it that no answer has said anything of. */
  readonly lacked: number;
  /** Records of ids that the call did not ask for. */
  readonly foreign: number;
  /** Some of the ids that it showed. */
  readonly shown: readonly string[];
}

/** The answer to a second request: ids that lacked, and witnesses in the same call. */
export interface SecondAnswer {
  /** Ids that it shows although an answer lacked them. */
  readonly came: readonly string[];
  readonly witnesses: number;
  readonly witnessesCame: number;
  /** Witnesses that other calls showed than those which lacked the ids. */
  readonly others: number;
  /** From 1: second answers so far that lack the ids that still lack. */
  readonly round: number;
}

/**
 * What a second answer leads to:
 * - `believed`: what still lacks is missing
 * - `again`: once more, as this run has seen an answer that lied
 * - `stale`: it lacks what the service has shown, so it is no answer: it is waited for, and blames nothing
 */
export type SecondVerdict = 'believed' | 'again' | 'stale';

export interface AbsenceOptions {
  /** Whether the bound of the run leaves room for second requests while no answer was seen to lie. */
  readonly mayDoubt: () => boolean;
  /** Share of ids that are known to have been missing before. */
  readonly knownShare?: number | undefined;
  /** Whether a service that shows no asset at all is believed. */
  readonly allowNone?: boolean | undefined;
}

const leastLacked = 3;
/** Without a record in so many answers, to so many ids, the list or the service is the wrong one. */
const emptyAnswers = 3;
const idsInEmpty = 1000;
/** Standard deviations by which more ids lack than others lead to expect. */
const improbable = 4;
/** And so many more in a call of so many ids, as small shares are skewed; fewer in one of fewer. */
const skew = 3;
const skewIds = 100;
/** Before anything is known, so large a share of ids is expected to lack, as if one call of at least so many ids had shown it. */
const expectedShare = 0.03;
const settledCalls = 32;
const keptWitnesses = 64;
const witnessCalls = 16;
/** Of so many witnesses one may lack: it may be gone since. */
const manyWitnesses = 8;
/** Second answers that ids have to lack in: where one has lied, and where no witness of another call came along. */
const cautiousRounds = 2;

/**
 * Weighs whether an id is missing or its answer lied: pure, without a clock. One backend of several that lags answers without an
 * error, and what it lacks would be lost in silence. So an answer that lacks improbably many ids is not believed: they are requested
 * again, beside ids that the service has shown, and an answer that lacks those is none.
 */
export class Absence {
  readonly #options: AbsenceOptions;
  readonly #settled: { readonly asked: number; readonly lacked: number }[] = [];
  /** What answers showed, those that lacked least first. */
  #shown: { readonly share: number; readonly ids: readonly string[] }[] = [];
  /** Ids that came after an answer had lacked them, the last ones first: the best witnesses. */
  #recovered: string[] = [];
  #hasLied = false;
  #found = 0;
  readonly #unasked = { ids: 0, calls: 0 };
  /** Until the first record. */
  readonly #empty = { answers: 0, ids: 0 };

  constructor(options: AbsenceOptions) {
    this.#options = options;
  }

  /** Ids that one answer lacked and another one showed. */
  get found(): number {
    return this.#found;
  }

  /** Ids that were believed to be missing although they were doubted, as the bound left no room. */
  get unasked(): Readonly<{ ids: number; calls: number }> {
    return this.#unasked;
  }

  /** Ids that were requested while the service has shown no asset at all; undefined unless they are too many to go on. */
  get idsWithoutAsset(): number | undefined {
    const { answers, ids } = this.#empty;
    const isEnough = answers >= emptyAnswers && ids >= idsInEmpty;
    return isEnough && this.#shown.length === 0 && this.#options.allowNone !== true ? ids : undefined;
  }

  judge(call: WeighedCall): 'believed' | 'again' {
    if (call.shown.length > 0) this.#shows(call);
    else if (call.lacked === call.asked) this.#lacksAll(call.asked);
    if (!this.#isDoubtful(call)) {
      this.settle(call);
      return 'believed';
    }
    if (this.#hasLied || this.#options.mayDoubt()) return 'again';
    this.#unasked.ids += call.lacked;
    this.#unasked.calls += 1;
    this.settle(call);
    return 'believed';
  }

  /** Takes into account how many ids of a call lack in the end. */
  settle({ asked, lacked }: Pick<WeighedCall, 'asked' | 'lacked'>): void {
    this.#settled.push({ asked, lacked });
    if (this.#settled.length > settledCalls) this.#settled.shift();
  }

  witnesses(room: number): string[] {
    const ids = new Set(this.#recovered.slice(0, room));
    const deepest = Math.max(0, ...this.#shown.map((each) => each.ids.length));
    // One of each call, then a second one of each: a call may have come from the backend that lags.
    for (let turn = 0; turn < deepest; turn += 1)
      for (const { ids: own } of this.#shown) {
        const id = own[turn];
        if (id !== undefined && ids.size < room) ids.add(id);
      }
    return [...ids];
  }

  #lacksAll(ids: number): void {
    this.#empty.answers += 1;
    this.#empty.ids += ids;
  }

  #shows({ asked, lacked, shown }: WeighedCall): void {
    this.#shown = [{ share: lacked / asked, ids: shown }, ...this.#shown]
      .sort((one, other) => one.share - other.share)
      .slice(0, witnessCalls);
  }

  second({ came, witnesses, witnessesCame, others, round }: SecondAnswer): SecondVerdict {
    const lacking = witnesses - witnessesCame;
    // The ids were counted when their first answer came.
    if (came.length === 0 && witnesses === 0) this.#lacksAll(0);
    if (lacking > (witnesses >= manyWitnesses ? 1 : 0)) {
      this.#hasLied = true;
      return 'stale';
    }
    if (came.length > 0) {
      this.#hasLied = true;
      this.#found += came.length;
      this.#recovered = [...came, ...this.#recovered].slice(0, keptWitnesses);
    }
    const rounds = this.#hasLied || others === 0 ? cautiousRounds : 1;
    return round >= rounds ? 'believed' : 'again';
  }

  #isDoubtful({ asked, lacked, foreign }: WeighedCall): boolean {
    if (lacked === 0) return false;
    const isMuch = lacked >= leastLacked;
    // Where half as many foreign records came as lack, they are parts of another answer.
    if (this.#hasLied || ((isMuch || 2 * lacked >= asked) && 2 * foreign >= lacked)) return true;
    if (!isMuch) return false;
    const prior = Math.max(asked, skewIds);
    const sums = this.#settled.reduce(
      (sum, each) => ({ asked: sum.asked + each.asked, lacked: sum.lacked + each.lacked }),
      { asked: prior, lacked: Math.min(1, expectedShare + (this.#options.knownShare ?? 0)) * prior },
    );
    const share = sums.lacked / sums.asked;
    const chance = improbable * Math.sqrt(asked * share * (1 - share));
    return lacked - asked * share > chance + skew * Math.min(1, asked / skewIds);
  }
}
