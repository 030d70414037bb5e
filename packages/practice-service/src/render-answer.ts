import { AnswerBytes, AnswerTooBig } from './answer-bytes.ts';
import { type AssetQuery, assetNotFound } from './asset-query.ts';
import type { SpokenLists } from './dialect.ts';
import { appendPage } from './lists/append-page.ts';
import { ListPages } from './lists/list-pages.ts';
import type { PageQuery, ServiceQuery } from './lists/list-query.ts';
import { listFaults } from './faults/list-faults.ts';
import type { AssetStore } from './store/asset-store.ts';
import { capBytes, type HttpAnswer, jsonAnswer, jsonType } from './http-answer.ts';
import { errorAnswer, type ErrorObject, resultHead, resultTail } from './json-rpc.ts';
import type { Spoiling } from './faults/spoiling.ts';
import { appendRecord, type StoredRecord } from './store/stored-record.ts';

/** A member of a request body, ready to be answered: a call in order, or what is wrong with it. */
export type Prepared = { readonly id: string | undefined } & (
  | { readonly query: ServiceQuery }
  | { readonly error: ErrorObject; readonly charged?: Charge }
);

/** A call that costs: so many credits, or what a call costs. */
export interface Charge {
  readonly query: ServiceQuery;
  readonly credits?: number;
}

const answerTooBig: ErrorObject = {
  code: -32008,
  message: 'Response is too big',
  data: `Exceeded max limit of ${capBytes}`,
};

/** Puts answers together from the texts in the store. */
export class AnswerRenderer {
  readonly #store: AssetStore;
  readonly #pages: ListPages;
  /** Bytes a record had on average in the last answer: how large the next one is likely to be. */
  #recordBytes = 2048;
  /** Records found so far. */
  records = 0;

  constructor(store: AssetStore, lists?: Pick<SpokenLists, 'ends'>) {
    this.#store = store;
    this.#pages = new ListPages(store, lists);
  }

  /** Answers the members of a body; with status 204 when all of them are notifications. */
  async render(members: readonly Prepared[], isBatch: boolean, spoiling: Spoiling | undefined): Promise<HttpAnswer> {
    const queries = members.flatMap((member) => ('query' in member ? [member.query] : []));
    const hasPages = queries.some((query) => 'place' in query);
    if (hasPages) await this.#pages.open();
    const ids = queries.reduce((sum, query) => sum + ('place' in query ? query.limit : query.ids.length), 0);
    const out = new AnswerBytes(capBytes, 256 + ids * Math.ceil(this.#recordBytes * 1.25));
    const answered = members.filter((member) => member.id !== undefined);
    if (answered.length === 0) return { status: 204, headers: {} };
    try {
      answered.forEach((member, place) => {
        if (isBatch) out.text(place > 0 ? ',' : '[');
        this.#append(out, member, spoiling);
      });
      if (isBatch) out.text(']');
    } catch (error) {
      if (!(error instanceof AnswerTooBig)) throw error;
      return jsonAnswer(200, errorAnswer((isBatch ? undefined : answered[0]?.id) ?? 'null', answerTooBig));
    }
    const body = out.finish();
    if (ids > 0 && !hasPages) this.#recordBytes = Math.max(64, body.length / ids);
    return { status: 200, headers: jsonType, body };
  }

  #append(out: AnswerBytes, member: Prepared, spoiling: Spoiling | undefined): void {
    const asked = member.id ?? 'null';
    const id = spoiling?.responseId(asked) ?? asked;
    const error = 'error' in member ? member.error : this.#appendResult(out, member.query, spoiling);
    out.text(error === undefined ? resultTail(id) : errorAnswer(id, spoiling?.error(error) ?? error));
  }

  /** Appends the answer up to its result; or nothing, and returns the error. */
  #appendResult(out: AnswerBytes, query: ServiceQuery, spoiling: Spoiling | undefined): ErrorObject | undefined {
    if ('place' in query) return this.#appendPage(out, query, spoiling);
    if (query.method === 'getAsset') {
      const record = this.#find(query, query.ids[0] ?? '', spoiling);
      if (record === undefined) return assetNotFound;
      out.text(resultHead);
      appendRecord(out, record, query.show);
      return undefined;
    }
    if (spoiling !== undefined) return this.#appendSpoiled(out, query, spoiling);
    out.text(`${resultHead}[`);
    query.ids.forEach((id, index) => {
      const record = this.#find(query, id, undefined);
      if (index > 0) out.text(',');
      if (record === undefined) out.text('null');
      else appendRecord(out, record, query.show);
    });
    out.text(']');
    return undefined;
  }

  #appendPage(out: AnswerBytes, query: PageQuery, spoiling: Spoiling | undefined): ErrorObject | undefined {
    const page = this.#pages.page(query, spoiling?.lists() ?? listFaults([]));
    if ('code' in page) return page;
    out.text(resultHead);
    appendPage(out, { page, query, store: this.#store });
    this.records += page.ids.length;
    return undefined;
  }

  #appendSpoiled(out: AnswerBytes, query: AssetQuery, spoiling: Spoiling): ErrorObject | undefined {
    const found = query.ids.map((id) => {
      const record = this.#find(query, id, spoiling);
      if (record === undefined) return null;
      const element = new AnswerBytes(capBytes, record.text.length);
      appendRecord(element, record, query.show);
      return element.finish();
    });
    const elements = spoiling.elements(found, query);
    if ('code' in elements) return elements;
    out.text(`${resultHead}[`);
    elements.forEach((element, index) => {
      if (index > 0) out.text(',');
      if (element === null) out.text('null');
      else out.bytes(element, 0, element.length);
    });
    out.text(']');
    return undefined;
  }

  #find(query: AssetQuery, id: string, spoiling: Spoiling | undefined): StoredRecord | undefined {
    const record = this.#store.get(id);
    if (record === undefined) return undefined;
    const { isUnverified } = record;
    if (query.method === 'getAsset' && isUnverified && !query.show.showUnverifiedCollections) return undefined;
    if (
      spoiling?.isForgotten(
        id,
        isUnverified && query.method === 'getAssets' && !query.show.showUnverifiedCollections,
      ) === true
    )
      return undefined;
    this.records += 1;
    return record;
  }
}
