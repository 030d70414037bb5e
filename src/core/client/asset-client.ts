import { IdList } from '../ids/id-list.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { Trouble } from './judgement/suspicion.ts';

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
