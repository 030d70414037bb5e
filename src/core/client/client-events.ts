import { ExportError } from '../../lib/export-error.ts';
import type { Trouble } from './judgement/suspicion.ts';

/** Why an attempt failed, as the label `reason` of the metrics has it. `rpc` is an error in the body of an answer with status 200. */
export const failureReasons = ['http_429', 'http_5xx', 'timeout', 'connection', 'rpc', 'other'] as const;
type FailureReason = (typeof failureReasons)[number];

/**
 * How the service does, as the client believes:
 * - `slowed`: it takes fewer calls than the job allows
 * - `probing`: it answers nobody; one call at a time looks whether it is back
 * - `searching`: an id makes it fail, which halving finds
 */
export const serviceStates = ['working', 'slowed', 'probing', 'searching'] as const;
export type ServiceState = (typeof serviceStates)[number];

/** Events of a client, for progress and logs. They contain neither the key nor the address. */
export type ClientEvent =
  | { readonly kind: 'sent'; readonly ids: number }
  /** A definite answer came that settles `ids`: `bytes` decoded, `ms` from sending to the last byte. */
  | { readonly kind: 'answered'; readonly ids: number; readonly bytes: number; readonly ms: number }
  /** A call that was sent ended without a definite answer. */
  | { readonly kind: 'failed'; readonly why: FailureReason }
  /** An attempt failed; the next begins in `waitMs`. `attempt` counts from 1. */
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly why: FailureReason;
      readonly waitMs: number;
      readonly attempt: number;
    }
  /** All calls wait until `untilMs` (since 1970 UTC); `concurrency` calls at once will go on. */
  | { readonly kind: 'paused'; readonly untilMs: number; readonly reason: string; readonly concurrency: number }
  /** An answer came from the journal and settles `ids`: nothing was sent. */
  | { readonly kind: 'replayed'; readonly ids: number }
  /** What the client believes of the service, and why, in words; `untilMs` (since 1970 UTC) where no call leaves before. */
  | { readonly kind: 'service'; readonly state: ServiceState; readonly message: string; readonly untilMs?: number }
  /** With `concurrency: auto`: so many calls at once are let out from now on. */
  | { readonly kind: 'limit'; readonly calls: number }
  /** What was learned of sizes: from now on at most `cap` ids a call, as far as is known. */
  | { readonly kind: 'shrunk'; readonly cap: number }
  /** Something that stops nothing: metrics, notifications or lineage failed, connections are not kept. Free of addresses. */
  | { readonly kind: 'warning'; readonly message: string }
  /** The day's credits are spent: calls go on at `untilMs` (since 1970 UTC). */
  | { readonly kind: 'waiting'; readonly untilMs: number; readonly reason: string };

export type ClientListener = (event: ClientEvent) => void;

/**
 * Why one attempt of a call brought no definite answer: trouble (see `Trouble`), or
 * - `spent`: the service says that the day's credits are gone, or those of a longer period
 * - `untrusted`: the certificate is not valid for the address; nothing was sent
 * - `held`: not sent; while it waited for its turn, something happened after which other policies have to decide again
 */
export type AttemptFailure = Trouble | 'spent' | 'untrusted' | 'held';

export interface AttemptDetail {
  /** HTTP status, where there was one. */
  readonly status?: number | undefined;
  /** The kind of failure, where the status does not tell it. */
  readonly why?: FailureReason | undefined;
  /** How long the service asks to wait, in milliseconds. */
  readonly waitMs?: number | undefined;
  /** What it means as long as the service has answered nothing: then it ends the client. */
  readonly atFirst?: ExportError | undefined;
  /** True when the request surely never left this machine, so that nothing can have been charged. */
  readonly unsent?: boolean | undefined;
  /** True when a connection that had brought answers ended before a byte of this one: it says nothing about the call. */
  readonly lost?: boolean | undefined;
  /** Of `spent`: the credits are those of the provider's own period, whose end is not known. */
  readonly ofPeriod?: boolean | undefined;
  /** True when the answer belongs to another call. */
  readonly foreign?: boolean | undefined;
  /** The first id that such an answer shows. */
  readonly shows?: string | undefined;
  readonly cause?: unknown;
}

/** Passed between the wrappers of a client; callers of the outermost never see one. Does not contain the key. */
export class AttemptError extends Error {
  readonly failure: AttemptFailure;
  readonly status: number | undefined;
  readonly why: FailureReason;
  readonly waitMs: number | undefined;
  readonly atFirst: ExportError | undefined;
  readonly unsent: boolean;
  readonly lost: boolean;
  readonly ofPeriod: boolean;
  readonly foreign: boolean;
  readonly shows: string | undefined;

  constructor(failure: AttemptFailure, message: string, detail: AttemptDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = 'AttemptError';
    this.failure = failure;
    this.status = detail.status;
    this.why = detail.why ?? reasonOfStatus(detail.status);
    this.waitMs = detail.waitMs;
    this.atFirst = detail.atFirst;
    this.unsent = detail.unsent ?? false;
    this.lost = detail.lost ?? false;
    this.ofPeriod = detail.ofPeriod ?? false;
    this.foreign = detail.foreign ?? false;
    this.shows = detail.shows;
  }
}

/** Whether an attempt failed for a reason that only other attempts can explain. */
export function isTrouble(failure: AttemptFailure): failure is Trouble {
  return failure === 'transport' || failure === 'refusal' || failure === 'pace';
}

/** The HTTP status of a failed attempt, where there was one. */
export function statusOf(error: unknown): number | undefined {
  if (error instanceof AttemptError) return error.status;
  return error instanceof ExportError && error.why?.kind === 'refused' ? error.why.status : undefined;
}

function reasonOfStatus(status = 0): FailureReason {
  if (status === 429) return 'http_429';
  return status >= 500 ? 'http_5xx' : 'other';
}
