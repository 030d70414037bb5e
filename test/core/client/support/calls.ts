import bs58 from 'bs58';
import { IdList } from '../../../../src/core/ids/id-list.ts';
import { RecordRows } from '../../../../src/core/records/scan/record-rows.ts';
import type { Lookup } from '../../../../src/core/client/lookups.ts';
import type {
  AssetAnswer,
  AssetCall,
  ElementReader,
  OpenReader,
  RefusedAnswer,
} from '../../../../src/core/client/asset-client.ts';
import { requestId } from '../../../../src/core/client/wire/call-body.ts';
import { parseAnswer } from '../../../../src/core/client/wire/parse-answer.ts';

export const noFlags = { showFungible: false, showCollectionMetadata: false, showUnverifiedCollections: false };

/** Reads the records of answers as exports do. */
export const rowReader: OpenReader<RecordRows> = (body) => new RecordRows(body);

/** Valid asset ids, one a number. */
export function idOf(n: number): string {
  const bytes = new Uint8Array(32).fill(7);
  new DataView(bytes.buffer).setUint32(28, n);
  return bs58.encode(bytes);
}

export function idsOf(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, n) => idOf(from + n));
}

export function batchCall(ids: readonly string[], part = 0): AssetCall {
  return { method: 'getAssets', ids: IdList.of(ids), flags: noFlags, part, reader: rowReader };
}

export function singleCall(id: string): AssetCall {
  return { method: 'getAsset', ids: IdList.of([id]), flags: noFlags, part: 0, reader: rowReader };
}

export function recordText(id: string): string {
  return `{"interface":"V1_NFT","id":"${id}","content":{"metadata":{"name":"Asset \\"${id.slice(-4)}\\""}},"burnt":false}`;
}

/** The body of a whole answer with these elements, each JSON text. */
export function answerBody(elements: readonly string[], id = 1): Uint8Array {
  return Buffer.from(`{"jsonrpc":"2.0","result":[${elements.join(',')}],"id":${id}}`);
}

/** The answer that brings a record for each of these ids. */
export function recordsOf(call: AssetCall, ids: readonly string[] = [...call.ids]): AssetAnswer {
  const texts = ids.map(recordText);
  const id = requestId(call);
  const body = call.method === 'getAssets' ? answerBody(texts, id) : singleBody(texts[0] ?? 'null', id);
  return parseAnswer(body, call) as AssetAnswer;
}

export function singleBody(element: string, id = 1): Uint8Array {
  return Buffer.from(`{"jsonrpc":"2.0","result":${element},"id":${id}}`);
}

export function refusal(why: RefusedAnswer['why'], message = 'no'): RefusedAnswer {
  return { kind: 'refused', why, message, doubtful: false };
}

export function idsIn(records: ElementReader): string[] {
  return Array.from({ length: records.count }, (_, index) => records.id(index));
}

/** Undefined of a refusal, and of an answer of which only its success matters. */
export function recordIdsOf(answer: AssetAnswer): string[] | undefined {
  return answer.kind === 'records' && answer.records !== undefined ? idsIn(answer.records) : undefined;
}

/** The id of the record that was found; undefined when none was. */
export function idFound(lookup: Lookup | undefined): string | undefined {
  return lookup?.kind === 'found' ? lookup.records.id(lookup.index) : undefined;
}
