import type { Clock } from '../../../src/lib/clock.ts';
import { isKeyError, readQuery } from './asset-query.ts';
import type { AssetStore } from './store/asset-store.ts';
import type { CreditBalance } from './credit-balance.ts';
import type { SpokenDialect } from './dialect.ts';
import { FaultPlan } from './faults/fault-plan.ts';
import type { Faults } from './faults/fault-schema.ts';
import { dayCreditsGone, type HttpAnswer, jsonAnswer, secondCreditsGone } from './http-answer.ts';
import { errorAnswer, isMisfit, type ErrorObject, type RpcMisfit, type RpcRequest, readBody } from './json-rpc.ts';
import { readPageQuery, type ServiceQuery } from './lists/list-query.ts';
import { AnswerRenderer, type Charge, type Prepared } from './render-answer.ts';
import { Spoiling } from './faults/spoiling.ts';

/** What the service answered so far, for tests and for the summary at its end. */
export interface ServiceCounts {
  /** HTTP exchanges on the service's path, refused ones included. */
  readonly exchanges: number;
  /** Calls that were charged, of lists too. */
  readonly calls: number;
  /** Ids requested in those calls. */
  readonly ids: number;
  /** Records found for them. */
  readonly records: number;
  /** Credits charged. */
  readonly credits: number;
  /** Exchanges refused for lack of credits. */
  readonly refused: number;
  /** Exchanges with at least one fault. */
  readonly faulted: number;
}

export interface AssetServiceOptions {
  readonly store: AssetStore;
  readonly balance: CreditBalance;
  readonly creditsPerCall: number;
  readonly maxIds: number;
  readonly dialect: SpokenDialect;
  readonly faults?: Faults;
  readonly clock: Clock;
}

/** Members of a JSON-RPC batch at most, so that a body of empty members cannot keep the service busy. */
const maxMembers = 1000;
const batchTooLarge: ErrorObject = {
  code: -32010,
  message: 'The batch request was too large',
  data: `Exceeded max limit of ${maxMembers}`,
};

/** The methods over JSON-RPC 2.0, charged by the call. It knows nothing of sockets. */
export class AssetService {
  readonly #options: AssetServiceOptions;
  readonly #renderer: AnswerRenderer;
  readonly #plan: FaultPlan | undefined;
  readonly #counts = { exchanges: 0, calls: 0, ids: 0, credits: 0, refused: 0, faulted: 0 };

  constructor(options: AssetServiceOptions) {
    this.#options = options;
    this.#renderer = new AnswerRenderer(options.store, options.dialect.list);
    this.#plan = options.faults === undefined ? undefined : new FaultPlan(options.faults);
  }

  counts(): ServiceCounts {
    return { ...this.#counts, records: this.#renderer.records };
  }

  countExchange(): void {
    this.#counts.exchanges += 1;
  }

  /** Answers one request body of a key. */
  async answer(key: string, bytes: Buffer): Promise<HttpAnswer> {
    const body = readBody(bytes);
    if (body.members.length > maxMembers) return jsonAnswer(200, errorAnswer('null', batchTooLarge));
    const members = body.members.map((member) => this.#prepare(member));
    const spoiling = this.#spoilingOf(members);
    const answer = await this.#answerMembers(key, members, { isBatch: body.kind === 'batch', spoiling });
    const remaining = this.#options.balance.remaining(key);
    if (remaining === undefined) return answer;
    return { ...answer, headers: { ...answer.headers, 'x-credits-remaining': String(remaining) } };
  }

  #prepare(member: RpcRequest | RpcMisfit): Prepared {
    if (isMisfit(member)) return member;
    const { method, params } = member;
    const query = readPageQuery(method, params, this.#options.dialect) ?? readQuery(method, params, this.#options);
    return 'code' in query ? { id: member.id, error: query } : { id: member.id, query };
  }

  /** No faults apply to bodies without a call. */
  #spoilingOf(members: readonly Prepared[]): Spoiling | undefined {
    if (!members.some((member) => 'query' in member || isKeyError(member.error))) return undefined;
    const faults = this.#plan?.faultsFor(queriesOf(members)) ?? [];
    if (faults.length === 0) return undefined;
    this.#counts.faulted += 1;
    return new Spoiling(faults);
  }

  async #answerMembers(
    key: string,
    members: readonly Prepared[],
    { isBatch, spoiling }: { isBatch: boolean; spoiling: Spoiling | undefined },
  ): Promise<HttpAnswer> {
    const refused = spoiling?.refuse(queriesOf(members), this.#options.clock.now());
    const checked = spoiling === undefined ? members : members.map((member) => failed(member, spoiling));
    const charges = chargesOf(checked, refused?.charged ?? true);
    const refusal = charges.length === 0 ? undefined : await this.#charge(key, charges);
    const answer = refusal ?? refused?.answer ?? (await this.#renderer.render(checked, isBatch, spoiling));
    return spoiling?.answer(answer) ?? answer;
  }

  /** Charges all calls of a body at once: it is served whole or not at all. */
  async #charge(key: string, charges: readonly Charge[]): Promise<HttpAnswer | undefined> {
    const credits = charges.reduce((sum, charge) => sum + (charge.credits ?? this.#priceOf(charge)), 0);
    const refusal = await this.#options.balance.charge(key, credits);
    if (refusal !== undefined) {
      this.#counts.refused += 1;
      return refusal === 'day' ? dayCreditsGone : secondCreditsGone;
    }
    this.#counts.calls += charges.length;
    this.#counts.credits += credits;
    for (const { query } of charges) this.#counts.ids += query.ids.length;
    return undefined;
  }

  #priceOf({ query }: Charge): number {
    const { creditsPerCall, dialect } = this.#options;
    return 'place' in query ? (dialect.list?.creditsPerPage ?? 0) : creditsPerCall;
  }
}

function queriesOf(members: readonly Prepared[]): ServiceQuery[] {
  return members.flatMap((member) => ('query' in member ? [member.query] : []));
}

/**
 * What costs credits: the calls to be looked up, and those that a fault fails after the look-up.
 * @param refused whether calls cost that a fault refuses all together, or how many credits each.
 */
function chargesOf(members: readonly Prepared[], refused: boolean | number): Charge[] {
  if (refused === false) return [];
  return members.flatMap((member): Charge[] => {
    if (!('query' in member)) return member.charged === undefined ? [] : [member.charged];
    return [refused === true ? { query: member.query } : { query: member.query, credits: refused }];
  });
}

function failed(member: Prepared, spoiling: Spoiling): Prepared {
  const failure = 'query' in member ? spoiling.fail(member.query) : undefined;
  if (failure === undefined || !('query' in member)) return member;
  const { error, charged } = failure;
  if (charged === false) return { id: member.id, error };
  return { id: member.id, error, charged: { query: member.query, ...(charged === true ? {} : { credits: charged }) } };
}
