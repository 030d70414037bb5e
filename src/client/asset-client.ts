import type { IdList } from '../assets/id-list.ts';
import type { RecordPlan } from '../assets/scan/record-plan.ts';
import type { RecordRows } from '../assets/scan/record-rows.ts';

/** Flags of `config`; `config` is sent only when one is on that the method has. */
export interface AssetFlags {
  readonly showFungible: boolean;
  readonly showCollectionMetadata: boolean;
  /** Known to `getAsset` alone. */
  readonly showUnverifiedCollections: boolean;
}

/** What to ask: one call is one paid exchange (or several, where an attempt fails and is retried). */
export interface AssetCall {
  readonly method: 'getAsset' | 'getAssets';
  /** Unique, valid ids; exactly one for `getAsset`. */
  readonly ids: IdList;
  readonly flags: AssetFlags;
  /** The last part that an id of this call belongs to: its answer is kept until that part is committed. */
  readonly part: number;
  /** How its records become rows; without it, no child rows are made. */
  readonly plan?: RecordPlan | undefined;
}

/** The service answered the call. */
export interface RecordsAnswer {
  readonly kind: 'records';
  /** Its JSON-RPC answer, decoded from gzip, known to be whole and well formed, with a `result` of the expected shape. */
  readonly body: Uint8Array;
  /** The elements of `result` that have an id; absent where only the success of the call matters. */
  readonly rows?: RecordRows;
  /** Elements of `result` that are neither null nor an object with a string `id`. */
  readonly idless: number;
  /** True when the answer carries another `id` than the call: counted, never a failure. */
  readonly otherResponseId: boolean;
  /** Gives the memory of `body` back, for another answer: from then on neither it nor the rows may be read. */
  readonly release?: (() => void) | undefined;
}

/** The service refused this call and would refuse it again. */
export interface RefusedAnswer {
  readonly kind: 'refused';
  /** For its size, or because of an `id` in it (`notFound`: the message says that an id matches nothing). */
  readonly why: 'size' | 'id' | 'notFound';
  /** The service's words, cleaned for a terminal and free of the key. */
  readonly message: string;
  /** True when the reason is not understood: believed only as long as other calls succeed. */
  readonly doubtful: boolean;
  /** HTTP status of the one exchange that it came with; absent when it was not sent, or comes from the journal. */
  readonly status?: number | undefined;
  /** The client refused for a size that it knows the service does not take: nothing new is learned from it. */
  readonly unsent?: true;
}

/** What a call brought back, once it is definite. */
export type AssetAnswer = RecordsAnswer | RefusedAnswer;

/**
 * Asks the service. One small interface, wrapped: journal, retry, concurrency, size guard and budget each take one and return one.
 * @throws {ExportError} when the answer cannot be had: `unavailable`, `keyRefused`, `spent`, …
 */
export interface Asker<Call> {
  ask(call: Call): Promise<AssetAnswer>;
}

/** An asker of whole calls: it knows the ids, and makes the records ready for rows. */
export type AssetClient = Asker<AssetCall>;

/** All that policies look at in a call: how many ids it has, and the first, to name it by. */
export interface CallOutline {
  readonly ids: { readonly length: number; readonly first: string | undefined };
}
