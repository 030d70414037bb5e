import { AnswerBytes, AnswerTooBig } from './answer-bytes.ts';
import { type AssetQuery, assetNotFound, readQuery } from './asset-query.ts';
import type { AssetStore } from './asset-store.ts';
import type { CreditBalance } from './credit-balance.ts';
import { capBytes, dayCreditsGone, type HttpAnswer, jsonAnswer, jsonType, secondCreditsGone } from './http-answer.ts';
import {
  errorText,
  isMisfit,
  type RpcBody,
  type RpcError,
  type RpcMisfit,
  type RpcRequest,
  readBody,
} from './json-rpc.ts';
import { appendRecord, isUnverified } from './stored-record.ts';

/** What the service answered so far, for tests and for the summary at its end. */
export interface ServiceCounts {
  /** HTTP exchanges on the service's path, refused ones included. */
  exchanges: number;
  /** Calls of the two methods that were charged. */
  calls: number;
  /** Ids asked for in those calls. */
  ids: number;
  /** Records found for them. */
  records: number;
  /** Credits charged. */
  credits: number;
  /** Exchanges refused for lack of credits. */
  refused: number;
}

export interface AssetServiceOptions {
  readonly store: AssetStore;
  readonly balance: CreditBalance;
  readonly creditsPerCall: number;
  readonly maxIds: number;
}

/** A member of a request body, ready to be answered: a call in order, or what is wrong with it. */
type Prepared = { readonly id: string | undefined } & ({ readonly query: AssetQuery } | { readonly error: RpcError });

/** Members of a JSON-RPC batch at most, so that a body of empty members cannot keep the service busy. */
const maxMembers = 1000;
const batchTooLarge: RpcError = {
  code: -32010,
  message: 'The batch request was too large',
  data: `Exceeded max limit of ${maxMembers}`,
};

/** The two methods over JSON-RPC 2.0, charged by the call. It knows nothing of sockets. */
export class AssetService {
  readonly counts: ServiceCounts = { exchanges: 0, calls: 0, ids: 0, records: 0, credits: 0, refused: 0 };
  readonly #options: AssetServiceOptions;
  /** Bytes a record had on average in the last answer: how large the next one is likely to be. */
  #recordBytes = 2048;

  constructor(options: AssetServiceOptions) {
    this.#options = options;
  }

  /** Answers one request body of a key. */
  answer(key: string, bytes: Buffer): HttpAnswer {
    const body = readBody(bytes);
    if (body.members.length > maxMembers) return jsonAnswer(200, errorText('null', batchTooLarge));
    const members = body.members.map((member) => this.#prepare(member));
    const queries = members.flatMap((member) => ('query' in member ? [member.query] : []));
    const refusal = queries.length === 0 ? undefined : this.#charge(key, queries);
    const answer = refusal ?? this.#run(body.kind, members);
    const remaining = this.#options.balance.remaining(key);
    if (remaining === undefined) return answer;
    return { ...answer, headers: { ...answer.headers, 'x-credits-remaining': String(remaining) } };
  }

  #prepare(member: RpcRequest | RpcMisfit): Prepared {
    if (isMisfit(member)) return member;
    const query = readQuery(member.method, member.params, this.#options.maxIds);
    return 'code' in query ? { id: member.id, error: query } : { id: member.id, query };
  }

  /** Charges all calls of a body at once: it is served whole or not at all. */
  #charge(key: string, queries: readonly AssetQuery[]): HttpAnswer | undefined {
    const credits = queries.length * this.#options.creditsPerCall;
    const refusal = this.#options.balance.charge(key, credits);
    if (refusal !== undefined) {
      this.counts.refused += 1;
      return refusal === 'day' ? dayCreditsGone : secondCreditsGone;
    }
    this.counts.calls += queries.length;
    this.counts.credits += credits;
    for (const query of queries) this.counts.ids += query.ids.length;
    return undefined;
  }

  #run(kind: RpcBody['kind'], members: readonly Prepared[]): HttpAnswer {
    const ids = members.reduce((sum, member) => sum + ('query' in member ? member.query.ids.length : 0), 0);
    const out = new AnswerBytes(capBytes, 256 + ids * Math.ceil(this.#recordBytes * 1.25));
    try {
      const answered = kind === 'batch' ? this.#appendBatch(out, members) : this.#appendMember(out, members[0]);
      if (!answered) return { status: 204, headers: {} };
    } catch (error) {
      if (!(error instanceof AnswerTooBig)) throw error;
      const id = kind === 'single' ? (members[0]?.id ?? 'null') : 'null';
      return jsonAnswer(
        200,
        errorText(id, { code: -32008, message: 'Response is too big', data: `Exceeded max limit of ${capBytes}` }),
      );
    }
    const body = out.finish();
    if (ids > 0) this.#recordBytes = Math.max(64, body.length / ids);
    return { status: 200, headers: jsonType, body };
  }

  /** @returns false when no member wants an answer. */
  #appendBatch(out: AnswerBytes, members: readonly Prepared[]): boolean {
    let answered = false;
    for (const member of members) {
      if (member.id === undefined) continue;
      out.text(answered ? ',' : '[');
      answered = this.#appendMember(out, member);
    }
    if (answered) out.text(']');
    return answered;
  }

  /** @returns false for a notification, which gets no answer. */
  #appendMember(out: AnswerBytes, member: Prepared | undefined): boolean {
    if (member?.id === undefined) return false;
    if ('error' in member) out.text(errorText(member.id, member.error));
    else this.#appendResult(out, member.query, member.id);
    return true;
  }

  #appendResult(out: AnswerBytes, query: AssetQuery, id: string): void {
    if (query.method === 'getAsset') {
      const packed = this.#find(query, query.ids[0] ?? '');
      if (packed === undefined) {
        out.text(errorText(id, assetNotFound));
        return;
      }
      out.text('{"jsonrpc":"2.0","result":');
      appendRecord(out, packed, query.show);
    } else {
      out.text('{"jsonrpc":"2.0","result":[');
      query.ids.forEach((assetId, index) => {
        if (index > 0) out.text(',');
        const packed = this.#find(query, assetId);
        if (packed === undefined) out.text('null');
        else appendRecord(out, packed, query.show);
      });
      out.text(']');
    }
    out.text(`,"id":${id}}`);
  }

  #find(query: AssetQuery, id: string): Buffer | undefined {
    const packed = this.#options.store.get(id);
    if (packed === undefined) return undefined;
    if (query.method === 'getAsset' && !query.show.showUnverifiedCollections && isUnverified(packed)) return undefined;
    this.counts.records += 1;
    return packed;
  }
}
