/** Why an attempt failed, as the label `reason` of the metrics has it. `rpc` is an error in the body of an answer with status 200. */
export const failureReasons = ['http_429', 'http_5xx', 'timeout', 'connection', 'rpc', 'other'] as const;
export type FailureReason = (typeof failureReasons)[number];

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
  /** So many calls at once from now on: fewer when connections were refused or reset (`reason`), or again as many as the job says. */
  | { readonly kind: 'concurrency'; readonly calls: number; readonly reason?: string }
  /** What was learned of sizes: from now on at most `cap` ids a call, as far as is known. */
  | { readonly kind: 'shrunk'; readonly cap: number }
  /** The day's credits are spent: calls go on at `untilMs` (since 1970 UTC). */
  | { readonly kind: 'waiting'; readonly untilMs: number; readonly reason: string };

export type ClientListener = (event: ClientEvent) => void;
