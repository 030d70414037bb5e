import { type Brake } from './policies/brake.ts';
import { withBadIds } from './policies/with-bad-ids.ts';
import { setMaxListeners } from 'node:events';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import { count } from '../../lib/format-text.ts';
import { type AnswerJournal, journaled, type KeptHint } from './policies/with-journal.ts';
import type { SizeBounds } from './judgement/call-size.ts';
import { secretScrubber } from './wire/service-address.ts';
import {
  aloneIn,
  type Asker,
  type AssetAnswer,
  type AssetClient,
  type CallOutline,
  noRecords,
  type RefusedAnswer,
  sentOver,
} from './asset-client.ts';
import { defaultDialect, type ServiceDialect } from './dialects.ts';
import {
  createWire,
  type HttpClient,
  type OtherAnswer,
  type OtherRequest,
  type WireOptions,
} from './wire/http-client.ts';
import { Absence, noAssetAdvice } from './judgement/absence.ts';
import { probeWaitMs } from './judgement/judgement.ts';
import type { AbsenceDesk } from './second-answers.ts';
import type { CreditLedger } from './ledger/credit-ledger.ts';
import { Ended } from './policies/day-gate.ts';
import { type BudgetOptions, withBudget } from './policies/with-budget.ts';
import type { SharedPace } from './policies/shared-pace.ts';
import { withJudgement } from './policies/with-judgement.ts';
import { withReuse } from './policies/with-reuse.ts';
import { withSizeGuard } from './policies/with-size-guard.ts';

export interface ClientOptions extends WireOptions, Pick<BudgetOptions, 'onCall' | 'onFree'> {
  readonly retries: number;
  readonly budget: ClientBudget;
  /** Stays open: the caller closes it after the client. */
  readonly ledger: CreditLedger;
  /** Shared with other processes: their calls, pauses and sizes count here, and these there. */
  readonly pace?: SharedPace | undefined;
  /** Share of its ids that were missing before. */
  readonly missingShare?: number | undefined;
  /** Calls at once that an earlier run ended with, of which `auto` begins with as many. */
  readonly learnedCalls?: number | undefined;
  /** Whether the run goes on where its first 1,000 ids are all missing. */
  readonly allowNone?: boolean | undefined;
  /** Counts the calls of the run, which may have several clients. */
  readonly brake?: Brake | undefined;
  readonly journal: AnswerJournal;
  /** What is sent, in words, where it is not ids. */
  readonly sent?: string | undefined;
  /** Most ids a call that the dialect takes, and that an earlier run or another process believed in. */
  readonly sizes?: SizeBounds | undefined;
  /** No attempt begins after it; exchanges in flight go on, and their answers are journaled. */
  readonly stop?: AbortSignal | undefined;
  /** The service has answered in this process. */
  readonly hasAnswered?: boolean | undefined;
  /** A number from 0 up to 1, as Math.random. */
  readonly random?: (() => number) | undefined;
}

/** Limits in credits. */
export interface ClientBudget {
  readonly creditsPerCall: number;
  readonly creditsPerRun?: number | undefined;
  readonly creditsPerDay?: number | undefined;
  readonly creditsPerSecond?: number | undefined;
  readonly whenSpent: 'stop' | 'wait';
  /** HTTP statuses that are known to cost nothing. */
  readonly freeStatuses?: readonly number[] | undefined;
}

/** A call as policies see it: the caller sends each attempt, over the wire of this process or of a thread. */
export interface SentCall extends CallOutline {
  /** @param fresh whether it must not reuse a connection */
  readonly send: (fresh: boolean) => Promise<AssetAnswer>;
  /** Sends one id alone, which is not kept: the id, or where it stands in the call, from 0 up to 1. */
  readonly sendAlone: (id: string | number, fresh: boolean) => Promise<AssetAnswer>;
}

export interface CreatedClient {
  readonly client: AssetClient;
  /** Has a call sent under all policies, but without the journal. */
  askUnderPolicies(call: SentCall): Promise<AssetAnswer>;
  /**
   * Sends a request that is not for ids under all policies, but without the journal. Its calls are planned by who sends them.
   * @param keep resolves when the answer is kept: its slot is free after that
   */
  request<Parsed extends OtherAnswer>(
    request: OtherRequest<Parsed>,
    keep: (answer: Parsed) => Promise<void>,
  ): Promise<Parsed | RefusedAnswer>;
  /** Weighs what answers lack, over all threads. */
  readonly absence: AbsenceDesk & { readonly weighed: Pick<Absence, 'found' | 'unasked'> };
  /** Takes into account what kept answers show. */
  hint(hint: KeptHint): void;
  /** Most ids a call, once that is known for sure; Infinity as long as it is not. */
  cap(): number;
  /** Throws the error that ended the client, which its last call may not have thrown. @throws {ExportError} */
  throwIfFailed(): void;
  /** Resolves when nothing is in flight and the connections are closed. */
  close(): Promise<void>;
}

/**
 * The one place where policies are put around the wire, from the inside out:
 * - budget, as each attempt is paid, retries too, and waits for the pace;
 * - `withReuse` on both sides of it: below, it calls `call.send`, which is the wire; above, it sends a request once more that
 *   was lost with a reused connection;
 * - the size guard around it, in the slot, so that calls that wait for one while their size is refused are not sent;
 * - the judgement around that: it holds the slots and repeats attempts, so that no more calls are booked than are sent at
 *   once, and a call that waits for its next attempt holds no slot; what is too large is cut when its slot is free, not before;
 * - what counts the bad ids around the judgement;
 * - a call that has waited for its pace, and by now may not leave for a hold or its size, goes back to the queue: so it is
 *   the policies around the budget that decide about it, in their order;
 * - the journal outermost, so that an answer that is kept costs no slot, no wait and no credit; but what arrives is written
 *   to it next to the wire, before its slot is free.
 *
 * So a further policy between the budget and the wire delays attempts that are paid for already; around the budget it sees each
 * attempt, which holds a slot; around the judgement it sees each call once, which waits for no slot yet; `ended` tells all of
 * them that nothing leaves any more, and is asked again after each wait.
 *
 * However many threads send, there is one of each policy; the wire and the journal are those of the caller.
 * @throws {ExportError} `usage` when the address, the key or the budget cannot be right.
 */
export function createClient(options: ClientOptions): CreatedClient {
  const { stop, brake, clock = systemClock, random = Math.random } = options;
  // Every call that waits or flies listens to them: `concurrency` bounds their number, not Node's warning at ten.
  for (const signal of [stop, options.abort]) if (signal !== undefined) setMaxListeners(0, signal);
  const http = createWire(options);
  // Asked when a call has waited: the policies that it asks are built below.
  const mayLeave = (call: CallOutline): boolean => judged.mayLeave(call) && !guard.refuses(call.ids.length);
  const ended = new Ended(stop);
  const budget = { ...options.budget, ...options, clock, mayLeave, ended };
  const paid = withReuse((wire) => withBudget(wire, budget), { clock, stop, listener: options.listener });
  // Others may miss what the pace cannot take now: they are told by the service.
  const onHold = (ms: number): void => void options.pace?.pauseAll(ms).catch(() => undefined);
  const onCap = (ids: number): void => {
    brake?.learned(ids);
    void options.pace?.learned(ids).catch(() => undefined);
  };
  const guard = withSizeGuard(paid, { ...options.sizes, listener: options.listener, onCap, controlOf, ended });
  const sent = options.sent ?? formOf(options.dialect);
  const judged = withJudgement(guard, { ...options, clock, random, ended, onHold, controlOf, sent });
  const policies = withBadIds(judged, brake);
  const scrub = secretScrubber([options.apiKey.trim()]);
  const policiesAround = (wire: AssetClient): AssetClient => ({
    ask: (call) =>
      policies.ask({
        ids: call.ids,
        pieceOf: call.pieceOf,
        repeats: call.repeats,
        send: (fresh) => wire.ask(sentOver(call, fresh)),
        sendAlone: (id, fresh) => http.ask(sentOver(aloneIn(call, id), fresh)),
      }),
  });
  const hint = (kept: KeptHint): void => {
    if ('most' in kept) guard.hints(kept.most);
    else judged.knows(kept.answered);
  };
  return {
    client: journaled(http, policiesAround, { ...options, scrub, onHint: hint }),
    askUnderPolicies: (call) => policies.ask(call),
    request: requestUnder(policies, http),
    hint,
    absence: absenceDesk(
      new Absence({
        mayDoubt: () => brake?.isHalfSpent !== true,
        knownShare: options.missingShare,
        allowNone: options.allowNone,
      }),
      clock,
      ended,
    ),
    cap: () => guard.cap(),
    throwIfFailed: () => {
      const failure = ended.failure();
      if (failure !== undefined) throw failure;
    },
    close: async () => {
      await judged.close();
      await http.close();
    },
  };
}

function absenceDesk(absence: Absence, clock: Clock, ended: Ended): CreatedClient['absence'] {
  let staleInRow = 0;
  const endWithoutAsset = (): void => {
    if (absence.idsWithoutAsset === undefined) return;
    const error = noAsset(absence.idsWithoutAsset);
    ended.end(error);
    throw error;
  };
  return {
    weighed: absence,
    judge: async (call) => {
      const verdict = absence.judge(call);
      endWithoutAsset();
      return verdict;
    },
    witnesses: (room) => Promise.resolve(absence.witnesses(room)),
    second: async (answer) => {
      const verdict = absence.second(answer);
      endWithoutAsset();
      if (verdict !== 'stale') staleInRow = 0;
      else await clock.sleep(probeWaitMs(staleInRow++), ended.stop);
      return verdict;
    },
    settle: (call) => {
      absence.settle(call);
    },
  };
}

function noAsset(ids: number): ExportError {
  return new ExportError('notTolerated', `none of the first ${count(ids)} ids is an asset`, {
    todo: `${noAssetAdvice} If both are right, run the same command with --allow-none: the answers so far are kept.`,
  });
}

/** Sends what is not for ids as a call of one id: policies look at nothing else. */
function requestUnder(policies: Asker<SentCall>, http: HttpClient): CreatedClient['request'] {
  return async <Parsed extends OtherAnswer>(
    request: OtherRequest<Parsed>,
    keep: (answer: Parsed) => Promise<void>,
  ): Promise<Parsed | RefusedAnswer> => {
    let kept: Parsed | undefined;
    const send = async (fresh: boolean): Promise<AssetAnswer> => {
      const answer = await http.request?.({ ...request, fresh });
      if (answer === undefined) throw new Error('this wire requests ids alone');
      if (isRefusal(answer)) return answer;
      await keep(answer);
      kept = answer;
      return noRecords;
    };
    const outline = { ids: { length: 1, first: undefined }, repeats: true } as const;
    const answer = await policies.ask({ ...outline, send, sendAlone: (_, fresh) => send(fresh) });
    if (answer.kind === 'refused') return answer;
    if (kept === undefined) throw new Error('an answer without a request');
    return kept;
  };
}

function isRefusal(answer: OtherAnswer | RefusedAnswer): answer is RefusedAnswer {
  return answer.kind === 'refused';
}

/** What a service is sent, in words. */
function formOf({ name, params, many }: ServiceDialect = defaultDialect): string {
  return `${params} parameters of ${many}, dialect ${name}`;
}

/** A call that shows how the service does, and settles no id. */
function controlOf({ sendAlone }: SentCall, id: string | number): SentCall {
  return { ids: { length: 1, first: undefined }, repeats: true, send: (fresh) => sendAlone(id, fresh), sendAlone };
}
