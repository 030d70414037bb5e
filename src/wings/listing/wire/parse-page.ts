import type { RecordError } from '../../../core/client/asset-client.ts';
import { AnswerText, MalformedAnswer, readEnvelope, recordError } from '../../../core/client/wire/parse-answer.ts';
import type { RpcError } from '../../../core/client/wire/classify-error.ts';
import type { Scrub } from '../../../core/client/wire/service-address.ts';
import { isAsset, isErrorEntry } from '../../../core/records/drift.ts';
import { rawLine } from '../../../core/records/scan/record-rows.ts';
import { utf8Text } from '../../../core/records/texts.ts';
import { carriageReturn, lineFeed, openBrace, openBracket } from '../../../lib/ascii.ts';
import { isAssetId } from '../../../lib/ids/asset-id.ts';
import { isJsonObject, type Json } from '../../../lib/json/json.ts';

/** A member of a list: its id, and its record as it came, on one line. It lies in the bytes of the answer. */
export interface ListedRecord {
  readonly id: string;
  readonly record: Uint8Array;
}

/** A page of a list. All ids are valid; order, repeats and range are not judged here. */
export interface ParsedPage {
  readonly kind: 'page';
  readonly records: readonly ListedRecord[];
  /** Members that the service could not show. */
  readonly errors: readonly RecordError[];
  /** All members by the service's count, where the page was requested with it. */
  readonly total: number | undefined;
  /** The token of the next page. */
  readonly cursor: string | undefined;
  readonly responseId: Json | undefined;
}

/** The answer to `getGrouping`. */
export interface ParsedTotal {
  readonly kind: 'total';
  readonly total: number;
  readonly responseId: Json | undefined;
}

/** An error object that is still to be classified. */
export interface ListError {
  readonly kind: 'error';
  readonly error: RpcError;
  readonly responseId: Json | undefined;
}

/** Most values of a page that are made into objects: errors, and records that are deep or odd. */
const mostMade = 1_000_000;

interface PageText {
  /** Undefined where it has no items. */
  records: ListedRecord[] | undefined;
  readonly errors: Json[];
  readonly members: Map<string, Json>;
}

/** The members of a page that are read: `total` counts the page, and is not. */
const ofPage: ReadonlySet<string> = new Set(['grand_total', 'cursor']);

/**
 * Reads the answer to a request of a page.
 * @param limit most members that were requested; services may add some of their own
 * @param scrub takes the key out of the words of errors
 * @throws {MalformedAnswer} when it is cut, no JSON, no JSON-RPC, or no page of members
 */
export function parsePage(body: Uint8Array, limit: number, scrub: Scrub): ParsedPage | ListError {
  const text = new AnswerText(body, mostMade);
  const answer = readEnvelope(text, () => pageText(text, 10 * limit));
  const { responseId } = answer;
  if (answer.error !== undefined) return { kind: 'error', error: answer.error, responseId };
  const { records, errors, members } = answer.result;
  if (records === undefined) throw new MalformedAnswer('the page has no items');
  return {
    kind: 'page',
    records,
    errors: errors.map((each) => memberError(each, scrub)),
    total: countIn(members.get('grand_total'), 'grand_total'),
    cursor: textIn(members.get('cursor')),
    responseId,
  };
}

/** Reads the answer to `getGrouping`. @throws {MalformedAnswer} as `parsePage` */
export function parseTotal(body: Uint8Array): ParsedTotal | ListError {
  const text = new AnswerText(body, mostMade);
  const answer = readEnvelope(text, () => text.parsed());
  const { responseId } = answer;
  if (answer.error !== undefined) return { kind: 'error', error: answer.error, responseId };
  const total = isJsonObject(answer.result) ? countIn(answer.result['group_size'], 'group_size') : undefined;
  if (total === undefined) throw new MalformedAnswer('the total has no group_size');
  return { kind: 'total', total, responseId };
}

function pageText(text: AnswerText, most: number): PageText {
  const page: PageText = { records: undefined, errors: [], members: new Map() };
  if (text.body[text.json.at] !== openBrace) {
    text.pass();
    return page;
  }
  text.object((name) => {
    const isArray = text.body[text.json.at] === openBracket;
    if (name === 'items' && isArray && page.records === undefined) {
      const records: ListedRecord[] = [];
      page.records = records;
      text.array(() => {
        takeItem(text, records, page.errors);
      }, most);
    } else if (name === 'items') throw new MalformedAnswer('its items are not one list');
    else if (name === 'errors' && isArray) text.array(() => page.errors.push(text.parsed()), most);
    else if (ofPage.has(name)) page.members.set(name, text.parsed());
    else text.pass();
  });
  return page;
}

/** Takes the item at `json.at`: a record, or what stands in place of one. */
function takeItem(text: AnswerText, records: ListedRecord[], errors: Json[]): void {
  const { body, json } = text;
  const start = json.at;
  const seen: { id?: Json; mayBeError: boolean } = { mayBeError: false };
  if (body[start] !== openBrace) throw new MalformedAnswer('an item is not an object');
  text.object((name) => {
    // The last of equal names counts, as everywhere.
    if (name === 'id') seen.id = text.parsed();
    else text.pass();
    if (name === 'error') seen.mayBeError = true;
  });
  const end = json.at;
  const value = seen.mayBeError ? text.parsed(start) : null;
  if (isAsset(value) && isErrorEntry(value)) errors.push(value);
  else records.push({ id: memberId(seen.id), record: onOneLine(body.subarray(start, end)) });
}

function onOneLine(record: Uint8Array): Uint8Array {
  return record.includes(lineFeed) || record.includes(carriageReturn)
    ? Buffer.from(rawLine(utf8Text(record, 0, record.length)))
    : record;
}

function memberError(value: Json, scrub: Scrub): RecordError {
  if (!isJsonObject(value)) throw new MalformedAnswer('an entry of its errors is not an object');
  return recordError({ id: memberId(value['id']), error: value['error'] ?? 'the service gives no reason' }, scrub);
}

function memberId(id: Json | undefined): string {
  if (typeof id === 'string' && isAssetId(id)) return id;
  throw new MalformedAnswer(id === undefined ? 'a member has no id' : 'the id of a member is not one of 32 bytes');
}

function countIn(value: Json | undefined, name: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new MalformedAnswer(`its ${name} is no count`);
}

function textIn(value: Json | undefined): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new MalformedAnswer('its cursor is no text');
}
