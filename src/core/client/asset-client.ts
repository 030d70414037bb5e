import { IdList } from '../ids/id-list.ts';
import type { JsonObject } from '../../lib/json/json.ts';

/** Flags of `config`; `config` is sent only when one is on that the method has. */
export interface AssetFlags {
  readonly showFungible: boolean;
  readonly showCollectionMetadata: boolean;
  /** Known to `getAsset` alone. */
  readonly showUnverifiedCollections: boolean;
}

/** The records of one answer, made from its elements while its JSON is read. The caller decides what they become. */
export interface ElementReader {
  /** Records so far. */
  readonly count: number;
  /**
   * Adds the record that begins at `at` in the answer's bytes, and those behind it with commas between, up to `most`: as many as nothing is unusual about.
   * @returns where the last ends; -1, and nothing is added, when `add` has to be used for the first
   */
  read(at: number, most: number): number;
  /** Adds a record by its value, which lies in the bytes from `start` up to `end`. */
  add(value: JsonObject, start: number, end: number): void;
  id(record: number): string;
  /** Whether the record has the id at this place of the list. */
  hasId(record: number, ids: IdList, place: number): boolean;
  /** Gives its memory back: from then on nothing here may be read. */
  release(): void;
}

/** Opens a reader for the bytes of an answer. */
export type OpenReader<Reader extends ElementReader = ElementReader> = (body: Uint8Array) => Reader;

/** What to ask. Each attempt is a paid exchange; where one fails, another may follow. */
export interface AssetCall {
  readonly method: 'getAsset' | 'getAssets';
  /** Unique, valid ids; exactly one for `getAsset`. */
  readonly ids: IdList;
  readonly flags: AssetFlags;
  /** The part that its ids belong to: its answer is kept until that part is committed. */
  readonly part: number;
  /** Reads the elements of its answer; absent where only the success of the call matters. */
  readonly reader?: OpenReader | undefined;
  readonly pieceOf?: PieceOf | undefined;
  /** As in `CallOutline`. */
  readonly repeats?: true | undefined;
  /** Tells it from calls for the same ids, whose answers are kept: another name, and another JSON-RPC id. */
  readonly again?: number | undefined;
  /** It must not reuse a connection. */
  readonly fresh?: true | undefined;
  /** Asked when an answer begins: its body is read when this resolves; undefined: at once. */
  readonly room?: (() => Promise<void> | undefined) | undefined;
}

/** @param fresh whether it must not reuse a connection */
export function sentOver(call: AssetCall, fresh: boolean): AssetCall {
  return fresh ? { ...call, fresh } : call;
}

/** The same call for one of its ids, or for another id, alone: only its success matters. @param id the id, or where it stands, from 0 up to 1 */
export function aloneIn(call: AssetCall, id: string | number): AssetCall {
  const one = typeof id === 'string' ? id : call.ids.at(Math.floor(id * call.ids.length));
  return { ...call, ids: IdList.of([one]), reader: undefined, pieceOf: undefined, room: undefined };
}

/** Marks a call that requests some ids of a refused call. */
export interface PieceOf {
  /** An id of the refused call is to blame, by the judgement of its failures: one piece is expected to fail too. */
  readonly isSuspected: boolean;
}

/** The service answered the call. */
export interface RecordsAnswer {
  readonly kind: 'records';
  /** Its JSON-RPC answer, decoded from gzip, known to be whole and well formed, with a `result` of the expected shape. */
  readonly body: Uint8Array;
  /** The elements of `result` that have an id, in the reader of the call; absent where it has none. */
  readonly records?: ElementReader | undefined;
  /** True when there are none, where the records stay in a thread. */
  readonly isEmpty?: boolean | undefined;
  /** Elements of `result` that are neither null nor an object with a string `id`. */
  readonly idless: number;
  /** True when one of them may be a record: it is no empty object. */
  readonly hasUnmatched: boolean;
  /** Elements of `result` that say why an id has no record. */
  readonly errors: readonly RecordError[];
  /** True when the answer carries another `id` than the call: counted, never a failure. */
  readonly otherResponseId: boolean;
  /** How long the service took, from the request to the first byte; absent where this thread was too busy to see it. */
  readonly latencyMs?: number | undefined;
  /** Gives the memory of `body` back, for another answer: from then on neither it nor the records may be read. */
  readonly release?: (() => void) | undefined;
}

/** An answer of which only its success matters. */
export const noRecords: RecordsAnswer = {
  kind: 'records',
  body: new Uint8Array(),
  errors: [],
  idless: 0,
  hasUnmatched: false,
  otherResponseId: false,
};

/** `{id, error}` in place of a record. */
export interface RecordError {
  readonly id: string;
  /** True when its words say that nothing has this id. */
  readonly notFound: boolean;
  /** The service's words, cleaned for a terminal and free of the key. */
  readonly message: string;
}

/** The service refused this call and would refuse it again. */
export interface RefusedAnswer {
  readonly kind: 'refused';
  /** For its size, or because of an `id` in it (`notFound`: the message says that an id matches nothing). */
  readonly why: 'size' | 'id' | 'notFound';
  /** The service's words, cleaned for a terminal and free of the key. */
  readonly message: string;
  /** True when an id is blamed by the judgement of failures, not by the service's words. */
  readonly doubtful: boolean;
  /** HTTP status of the one exchange that it came with; absent when it was not sent, or comes from the journal. */
  readonly status?: number | undefined;
  /** Set by a policy that refused without sending: nothing new is learned from it. */
  readonly unsent?: true;
  /** Set by the journal: it was sent by an earlier run. */
  readonly replayed?: true;
  /** Of a size: how many ids the service takes a call, once that is known. */
  readonly most?: number | undefined;
  /** Of a size, while that is not known: how many ids to try next. */
  readonly tries?: number | undefined;
}

/** What a call brought back, once it is definite. */
export type AssetAnswer = RecordsAnswer | RefusedAnswer;

/**
 * How many ids of a call an answer settles: a refusal of several ids settles none, as each half is asked for again. A second request
 * settles none either, as the first one counts, nor does a call without a reader, which shows how the service does.
 */
export function settledIds(answer: AssetAnswer, { ids, reader, again }: AssetCall): number {
  if (reader === undefined || again !== undefined) return 0;
  if (answer.kind === 'records') return ids.length;
  return ids.length === 1 && answer.why !== 'size' ? 1 : 0;
}

/**
 * Asks the service. One small interface, wrapped: journal, judgement, size guard and budget each take one and return one.
 * @throws {ExportError} when the answer cannot be had: `unavailable`, `notTrusted`, `spent`, …
 */
export interface Asker<Call> {
  ask(call: Call): Promise<AssetAnswer>;
}

/** An asker of whole calls: it knows the ids, and makes the records ready for rows. */
export type AssetClient = Asker<AssetCall>;

/** All that policies look at in a call: how many ids it has, and the first, to name it by. */
export interface CallOutline {
  readonly ids: { readonly length: number; readonly first: string | undefined };
  readonly pieceOf?: PieceOf | undefined;
  /** Its ids have left in this run before, or it only shows whether the service works: it counts as overrun. */
  readonly repeats?: true | undefined;
}
