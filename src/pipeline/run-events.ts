import type { ClientEvent } from '../client/client-events.ts';
import type { Commit, Counts } from '../store/export-facts.ts';
import type { Holding } from './held-bytes.ts';

/** What a run tells while it works, for the progress block, the log and tests. */
export type RunEvent =
  | ClientEvent
  /** The inputs are known and hashed; `inputBytes` is their size on disk. */
  | {
      readonly kind: 'opened';
      readonly inputBytes: number;
      readonly parts: number;
      readonly answers: number;
      readonly counts: Counts;
    }
  /** Entries were read so far in this run, and bytes of the inputs. */
  | { readonly kind: 'read'; readonly entries: number; readonly inputBytes: number }
  /** What a thread (0: none was started) holds in memory for its calls. */
  | ({ readonly kind: 'holding'; readonly thread: number } & Holding)
  | { readonly kind: 'committed'; readonly commit: Commit };

export type RunListener = (event: RunEvent) => void;
