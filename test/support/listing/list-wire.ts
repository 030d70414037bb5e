import type { HttpClient, OtherAnswer, OtherRequest } from '../../../src/core/client/wire/http-client.ts';
import { judgeReading } from '../../../src/core/client/wire/judge-answer.ts';
import { idOfBytes, putIdBytes } from '../../../src/lib/ids/asset-id.ts';
import { keyAt } from '../../../src/wings/listing/walk/keys.ts';
import type { SimulatedIndex } from './simulated-index.ts';

/** What the wire is told of a page before it answers. */
export interface SentPage {
  /** From 1, over all calls. */
  readonly call: number;
  readonly after: string | undefined;
  readonly before: string | undefined;
  readonly cursor?: string | undefined;
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
}

export interface ListWireOptions {
  /** What the service counts. */
  readonly total?: (() => number) | undefined;
  /** Changes the ids of a page. */
  readonly spoil?: ((ids: string[], sent: SentPage) => string[]) | undefined;
  /** Ids that come with an error in place of a record. */
  readonly failed?: ((id: string) => boolean) | undefined;
  /** The token of the next page: then a page begins behind the id that is its token. */
  readonly token?: ((ids: readonly string[], sent: SentPage) => string | undefined) | undefined;
  /** All ids, in the order in which pages have numbers. */
  readonly numbered?: ((sent: SentPage) => readonly string[]) | undefined;
  /** Called before a call is answered. */
  readonly onCall?: ((sent: SentPage) => void | Promise<void>) | undefined;
  /** Status and body in place of the answer. */
  readonly answer?: ((sent: SentPage) => { readonly status: number; readonly body: string } | undefined) | undefined;
}

interface NamedParams {
  readonly after?: string;
  readonly before?: string;
  readonly cursor?: string;
  readonly page?: number;
  readonly limit?: number;
  readonly options?: { readonly showGrandTotal?: boolean };
}

/** The record of an id, as the wire has it. */
export function recordOf(id: string): string {
  return `{"id":"${id}","interface":"V1_NFT","content":{"metadata":{"name":"member ${id.slice(0, 6)}"}}}`;
}

/** A wire to a listing service with named parameters that answers from an index. */
export class ListWire {
  readonly #index: SimulatedIndex;
  readonly #options: ListWireOptions;
  readonly sent: SentPage[] = [];

  constructor(index: SimulatedIndex, options: ListWireOptions = {}) {
    this.#index = index;
    this.#options = options;
  }

  readonly open = (): HttpClient => ({
    ask: () => Promise.reject(new Error('no ids are requested')),
    request: <Parsed extends OtherAnswer>(request: OtherRequest<Parsed>) => this.#answer(request),
    close: () => Promise.resolve(),
  });

  async #answer<Parsed extends OtherAnswer>(request: OtherRequest<Parsed>) {
    const { method, params } = JSON.parse(Buffer.from(request.body).toString()) as {
      method: string;
      params: NamedParams;
    };
    const sent = { call: this.sent.length + 1, ...placesOf(params) };
    this.sent.push(sent);
    await this.#options.onCall?.(sent);
    const other = this.#options.answer?.(sent);
    const result = method === 'getGrouping' ? this.#grouping() : this.#page(params, sent);
    const body = other?.body ?? `{"jsonrpc":"2.0","id":${request.id},"result":${result}}`;
    return judgeReading(
      { status: other?.status ?? 200, retryAfter: undefined, body: Buffer.from(body) },
      { parse: request.parse, isForeign: () => false },
      { scrub: (text) => text, nowMs: 0 },
    );
  }

  #grouping(): string {
    return `{"group_key":"collection","group_name":"","group_size":${this.#options.total?.() ?? 0}}`;
  }

  #page({ after, before, cursor, options }: NamedParams, sent: SentPage): string {
    const { spoil = (ids: string[]) => ids, failed = () => false, total, token } = this.#options;
    const { keys } = this.#index.page({ after: placeOf(after ?? cursor), before: placeOf(before) });
    const rising = Array.from({ length: keys.length / 32 }, (_, at) => idOfBytes(keys, 32 * at));
    const { page = 1, limit = 1000 } = sent;
    const inOrder = this.#index.direction === 'rising' ? rising : rising.toReversed();
    const ids = spoil(this.#options.numbered?.(sent).slice((page - 1) * limit, page * limit) ?? inOrder, sent);
    const items = ids.filter((id) => !failed(id)).map(recordOf);
    const errors = ids.filter(failed).map((id) => `{"id":"${id}","error":"no content data"}`);
    const grand = options?.showGrandTotal === true && total !== undefined ? `,"grand_total":${total()}` : '';
    const next = token?.(ids, sent);
    const tokenText = next === undefined ? '' : `,"cursor":"${next}"`;
    return `{"total":${items.length},"limit":1000${grand}${tokenText},"items":[${items.join()}],"errors":[${errors.join()}]}`;
  }
}

function placesOf({ after, before, cursor, page, limit }: NamedParams) {
  return { after, before, cursor, page, limit };
}

function placeOf(id: string | undefined): bigint | undefined {
  if (id === undefined) return undefined;
  const bytes = new Uint8Array(32);
  putIdBytes(id, bytes, 0);
  return keyAt(bytes, 0);
}
