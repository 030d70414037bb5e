/**
 * Why one attempt of a call brought no definite answer:
 * - `transient`: it may go well the next time (a reset, a hang, 5xx, a cut body)
 * - `throttled`: too fast; all calls should pause
 * - `doubtful`: an error that is not understood; perhaps one id in the call causes it
 * - `spent`: the service says that the day's credits are gone
 * - `held`: not sent; while it waited for its turn, something came up that other policies have to decide anew
 */
export type AttemptFailure = 'transient' | 'throttled' | 'doubtful' | 'spent' | 'held';

export interface AttemptDetail {
  /** HTTP status, where there was one. */
  readonly status?: number | undefined;
  /** How long the service asks to wait, in milliseconds. */
  readonly waitMs?: number | undefined;
  /** True when the words promise an end (`timeout`, `try again`), so that all retries are worth their credits. */
  readonly patient?: boolean | undefined;
  /** True when the request surely never left this machine, so that nothing can have been charged. */
  readonly unsent?: boolean | undefined;
  readonly cause?: unknown;
}

/** What passes between the wrappers of a client; whoever asks the outermost never sees one. Free of the key. */
export class AttemptError extends Error {
  readonly failure: AttemptFailure;
  readonly status: number | undefined;
  readonly waitMs: number | undefined;
  readonly patient: boolean;
  readonly unsent: boolean;

  constructor(failure: AttemptFailure, message: string, detail: AttemptDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = 'AttemptError';
    this.failure = failure;
    this.status = detail.status;
    this.waitMs = detail.waitMs;
    this.patient = detail.patient ?? false;
    this.unsent = detail.unsent ?? false;
  }
}
