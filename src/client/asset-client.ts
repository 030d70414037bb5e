import type { JsonObject } from '../assets/json.ts';

/** Flags of `config`; `config` is sent only when one is on. */
export interface AssetFlags {
  readonly showFungible: boolean;
  readonly showCollectionMetadata: boolean;
  readonly showUnverifiedCollections: boolean;
}

/** What to ask: one call is one paid exchange (or several, where an attempt fails and is retried). */
export interface AssetCall {
  readonly method: 'getAsset' | 'getAssets';
  /** Unique, valid ids; exactly one for `getAsset`. */
  readonly ids: readonly string[];
  readonly flags: AssetFlags;
  /** The last part that an id of this call belongs to: its answer is kept until that part is committed. */
  readonly part: number;
}

/**
 * What a call brought back, once it is definite:
 * - `records`: the service answered the call. `body` is its JSON-RPC answer, decoded from gzip, known to be
 *   whole and well formed, with a `result` of the expected shape.
 * - `refused`: the service refused this call and would refuse it again: for its `size`, or because of an `id` in it
 *   (`notFound` when the message says that an id matches nothing). `body` is kept for the message.
 */
export type AssetAnswer =
  | { readonly kind: 'records'; readonly body: Uint8Array; readonly records: readonly AnswerRecord[] }
  | {
      readonly kind: 'refused';
      readonly body: Uint8Array;
      readonly why: 'size' | 'id' | 'notFound';
      /** The service's words, cleaned for a terminal and free of the key. */
      readonly message: string;
    };

/** One element of `result`: its parsed value, and its text as the service sent it. `null` elements are left out. */
export interface AnswerRecord {
  readonly id: string;
  /** Parsed without losing a digit: see `assets/json.ts`. */
  readonly value: JsonObject;
  readonly text: string;
}


/**
 * Asks the service. One small interface, wrapped: journal, retry, concurrency and budget each take one and return one.
 * @throws {ExportError} when the answer cannot be had: `unavailable`, `keyRefused`, `spent`, …
 */
export interface AssetClient {
  ask(call: AssetCall): Promise<AssetAnswer>;
}
