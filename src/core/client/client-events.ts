/** Why an attempt failed, as the label `reason` of the metrics has it. `rpc` is an error in the body of an answer with status 200. */
export const failureReasons = ['http_429', 'http_5xx', 'timeout', 'connection', 'rpc', 'other'] as const;
export type FailureReason = (typeof failureReasons)[number];

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
