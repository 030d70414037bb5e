/** What a client tells while it works, for progress and logs. Free of the key and of the address. */
export type ClientEvent =
  | { readonly kind: 'sent'; readonly ids: number }
  /** A definite answer came: `bytes` decoded, `ms` from sending to the last byte. */
  | { readonly kind: 'answered'; readonly ids: number; readonly bytes: number; readonly ms: number }
  /** An attempt failed; the next begins in `waitMs`. `attempt` counts from 1. */
  | { readonly kind: 'retry'; readonly reason: string; readonly waitMs: number; readonly attempt: number }
  /** All calls wait until `untilMs` (since 1970 UTC); `concurrency` calls at once will go on. */
  | { readonly kind: 'paused'; readonly untilMs: number; readonly reason: string; readonly concurrency: number }
  /** An answer came from the journal: nothing was sent. */
  | { readonly kind: 'replayed'; readonly ids: number }
  /** The service refused a size: from now on at most `cap` ids a call. */
  | { readonly kind: 'shrunk'; readonly cap: number }
  /** The day's credits are spent: calls go on at `untilMs` (since 1970 UTC). */
  | { readonly kind: 'waiting'; readonly untilMs: number; readonly reason: string };

export type ClientListener = (event: ClientEvent) => void;
