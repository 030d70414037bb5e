import type { ClientEvent } from '../client/asset-client.ts';
import type { Commit, Counts } from '../../places/export/export-facts.ts';
import type { Holding } from './held-bytes.ts';
import type { TakenColumn } from '../ids/read/list-form.ts';

/** Events of a run, for the progress block, the log and tests. */
export type RunEvent =
  | ClientEvent
  /** The inputs are known and hashed; `inputBytes` is their size on disk. */
  | {
      readonly kind: 'opened';
      readonly inputBytes: number;
      readonly parts: number;
      readonly answers: number;
      readonly counts: Counts;
      /** Ids that earlier runs fetched and that lie in no part. */
      readonly fetched?: number | undefined;
      /** Entries that are read at most; absent for all. */
      readonly limit?: number | undefined;
      /** Whether an earlier run began the export. */
      readonly isResumed?: boolean | undefined;
      /** Where the ids of inputs with columns are read from. */
      readonly columns?: readonly TakenColumn[];
      /** Name and bytes of each input. */
      readonly inputs?: readonly { readonly name: string; readonly bytes: number }[];
    }
  /** Entries were read so far in this run, and bytes of the inputs. */
  | { readonly kind: 'read'; readonly entries: number; readonly inputBytes: number }
  /** The fates of the entries of a batch are known, none of which is in a committed part yet. */
  | { readonly kind: 'settled'; readonly counts: Counts }
  /** What a thread (0: none was started) holds in memory for its calls. */
  | ({ readonly kind: 'holding'; readonly thread: number } & Holding)
  | { readonly kind: 'committed'; readonly commit: Commit }
  /** The record of the run (`runs.jsonl`) could not be written: the run continues without it. */
  | { readonly kind: 'unrecorded'; readonly reason: string }
  /** `output.keep` removed exports from the folder that they lay in. */
  | { readonly kind: 'pruned'; readonly names: readonly string[]; readonly from: string };

export type RunListener = (event: RunEvent) => void;
