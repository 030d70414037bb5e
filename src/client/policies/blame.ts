import type { ExportError } from '../../lib/export-error.ts';
import type { CallOutline } from '../asset-client.ts';
import type { AttemptError } from '../attempt-error.ts';

/** The state of the service, as all calls together show it. */
export interface ServiceState {
  /** Definite answers so far. */
  answered: number;
  doubtfulInRow: number;
  doubtsAtFirst: number;
  /** Calls that were cut, and attempts that failed, since the last answer. */
  cutsUnanswered: number;
  failuresUnanswered: number;
  /** Calls under way that are no pieces of others. */
  wholes: number;
  /** A call was given up, and none was answered since. */
  gaveUp: boolean;
  /** It refuses every call: nothing more is sent. */
  broken?: ExportError;
}

/** A whole call fails so often before one of its ids is suspected; a piece of such a call fails once. */
const failuresOfWhole = 2;
/** One id is given up after so many failures. */
const failuresOfOne = 2;

/** So many failures of a call may be blamed on too many calls at once: enough to halve 16 calls down to one. */
const maxCrowded = 4;

/** A lone call has no others to compare with: it and its pieces are cut so often to see whether an id is to blame. */
const maxCutsUnanswered = 3;

/**
 * Decides whether an id of a call is to blame for its resets, hangs and 5xx. An id is suspected when other calls are answered
 * meanwhile; a call that is alone is cut to find out.
 */
export class Blame {
  readonly #call: CallOutline;
  readonly #service: ServiceState;
  readonly #retries: number;
  /** Failures that came while other calls were answered. */
  #blamed = 0;
  #crowded = 0;
  /** Answers of other calls, when the attempt began and at the failure before: more since show that the service works. */
  #answeredAtBegin = 0;
  #answeredBefore: number | undefined;

  constructor(call: CallOutline, service: ServiceState, retries: number) {
    this.#call = call;
    this.#service = service;
    this.#retries = retries;
  }

  beginAttempt(): void {
    this.#answeredAtBegin = this.#service.answered;
  }

  /** Whether other calls were answered during the attempt. */
  areOthersAnswered(): boolean {
    return this.#service.answered > this.#answeredAtBegin;
  }

  /**
   * `refused`: an id is to blame, and halving finds it. `again`: one more attempt makes sure.
   * @param failures of this call so far
   */
  verdict(error: AttemptError, failures: number): 'refused' | 'again' | 'unclear' {
    const { length } = this.#call.ids;
    const piece = this.#call.pieceOf?.failed;
    if (error.unsent) return 'unclear';
    if (error.crowded && this.#crowded < maxCrowded) {
      this.#crowded += 1;
      return 'unclear';
    }
    const before = piece?.answered ?? this.#answeredBefore ?? this.#answeredAtBegin;
    this.#answeredBefore = this.#service.answered;
    if (this.#service.answered > before) {
      this.#blamed += 1;
      if (piece !== undefined) return length > 1 || failures >= failuresOfOne ? 'refused' : 'again';
      // A call of one id cannot be compared with its other half.
      const isEnough = length === 1 ? failures > this.#retries : true;
      return isEnough && this.#blamed >= failuresOfWhole ? 'refused' : 'unclear';
    }
    if (length === 1 || !this.#isToCut(failures)) return 'unclear';
    this.#service.cutsUnanswered += 1;
    return 'refused';
  }

  /** Whether only a cut can show if an id is the reason that nothing is answered. */
  #isToCut(failures: number): boolean {
    const { cutsUnanswered, wholes, gaveUp } = this.#service;
    const isWhole = this.#call.pieceOf === undefined;
    if (gaveUp || wholes > (isWhole ? 1 : 0) || cutsUnanswered >= maxCutsUnanswered) return false;
    return failures >= (isWhole ? failuresOfWhole : 1);
  }
}
