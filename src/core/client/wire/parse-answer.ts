import { isTooDeep, mostJsonDepth, isJsonObject, type Json, stringifyJson } from '../../../lib/json/json.ts';
import { type ErrorEntry, isAsset, isErrorEntry } from '../../records/asset.ts';
import { mostValues } from '../../../lib/scan/json-scanner.ts';
import type { AssetCall, ElementReader, RecordError, RecordsAnswer } from '../asset-client.ts';
import { AnswerText, type Envelope, MalformedAnswer, readEnvelope } from './answer-envelope.ts';
import { requestId } from './call-body.ts';
import { classifyError, type RpcError, rpcError } from './classify-error.ts';
import { cleanMessage, type Scrub } from './clean-message.ts';
import { lowerN, openBrace, openBracket } from '../../../lib/ascii.ts';

/** A whole, well-formed JSON-RPC answer: records, or an error object that is still to be classified. */
export type ParsedAnswer = ParsedRecords | ParsedError;

export interface ParsedRecords extends RecordsAnswer {
  /** The answer's own JSON-RPC id. */
  readonly responseId: Json | undefined;
}

export interface ParsedError {
  readonly kind: 'error';
  readonly error: RpcError;
  readonly responseId: Json | undefined;
}

/**
 * Reads a JSON-RPC 2.0 answer, fresh or from the journal: the same bytes always give the same answer.
 * The records are read where they lie in the bytes, so that each keeps its text as the service sent it.
 * @param scrub takes the key out of the words of errors
 * @throws {MalformedAnswer} when it is cut, no JSON, no JSON-RPC, or its result has not the shape the method promises.
 */
export function parseAnswer(body: Uint8Array, call: AssetCall, scrub: Scrub = (text) => text): ParsedAnswer {
  const records = call.reader?.(body);
  const answer = new AnswerReader(body, records, call.ids.length).read();
  const { responseId } = answer;
  if (answer.error !== undefined) return { kind: 'error', error: answer.error, responseId };
  const { idless, hasUnmatched, errors: entries } = shaped(answer.result, call.method);
  const errors = entries.map((each) => recordError(each, scrub));
  return {
    kind: 'records',
    body,
    records,
    idless,
    hasUnmatched,
    errors,
    responseId,
    otherResponseId: responseId !== requestId(call),
  };
}

interface Result {
  readonly isArray: boolean;
  readonly isObject: boolean;
  readonly isNull: boolean;
  /** Elements that are neither null nor a record with an id. */
  readonly idless: number;
  /** Whether one of them is more than an empty object, which services send for ids that match nothing. */
  readonly hasUnmatched: boolean;
  readonly errors: readonly ErrorEntry[];
}

/** Far more than a service adds of its own: each element takes memory, and a small answer can unpack to millions. */
function mostElements(asked: number): number {
  return 10 * asked + 10_000;
}

/** The same for values that are parsed into objects: members other than the result, and unusual records. */
function mostMade(asked: number): number {
  return 500 * asked + mostValues;
}

class AnswerReader {
  readonly #text: AnswerText;
  readonly #records: ElementReader | undefined;
  readonly #mostElements: number;
  #idless = 0;
  #hasUnmatched = false;
  readonly #errors: ErrorEntry[] = [];

  constructor(body: Uint8Array, records: ElementReader | undefined, asked: number) {
    this.#text = new AnswerText(body, mostMade(asked));
    this.#mostElements = mostElements(asked);
    this.#records = records;
  }

  read(): Envelope<Result> {
    return readEnvelope(this.#text, () => this.#result());
  }

  #result(): Result {
    const { body, json } = this.#text;
    const first = body[json.at];
    const isArray = first === openBracket;
    if (isArray) this.#text.arrayOf((most) => this.#elements(most), this.#mostElements);
    else this.#elements(1);
    return {
      isArray,
      isObject: first === openBrace,
      isNull: first === lowerN,
      idless: this.#idless,
      hasUnmatched: this.#hasUnmatched,
      errors: this.#errors,
    };
  }

  /** Takes usual records up to `most`, or one element of any kind, and gives how many. */
  #elements(most: number): number {
    const { json } = this.#text;
    const records = this.#records;
    const before = records?.count ?? 0;
    const end = records?.read(json.at, most) ?? -1;
    if (records === undefined) this.#text.pass();
    else if (end < 0) this.#unusual(records);
    else {
      json.at = end;
      return records.count - before;
    }
    return 1;
  }

  #unusual(records: ElementReader): void {
    const { json } = this.#text;
    const start = json.at;
    const value = this.#text.parsed(start);
    if (value === null) return;
    if (!isAsset(value)) this.#passIdless(value);
    else if (isErrorEntry(value)) this.#errors.push(value);
    else if (isTooDeep(this.#text.body, start, json.at))
      this.#errors.push({ id: value.id, error: `the record is nested deeper than ${mostJsonDepth} levels` });
    else records.add(value, start, json.at);
  }

  #passIdless(value: Json): void {
    this.#idless += 1;
    const isEmpty = isJsonObject(value) && Object.keys(value).length === 0;
    if (!isEmpty) this.#hasUnmatched = true;
  }
}

/** The result of an answer without an error, in the shape that the method promises. */
function shaped(result: Result, method: AssetCall['method']): Result {
  if (method === 'getAssets' && !result.isArray) throw new MalformedAnswer('the result is not an array');
  if (method === 'getAsset' && !result.isObject && !result.isNull)
    throw new MalformedAnswer('the result is not an object');
  return result;
}

/** @param scrub takes the key out of its words */
export function recordError({ id, error: value }: ErrorEntry, scrub: Scrub): RecordError {
  const error = rpcError(value) ?? { ...noDetail, words: typeof value === 'string' ? value : stringifyJson(value) };
  const is = classifyError({ status: 200, error, text: '', hasRetryAfter: false });
  const code = error.code === undefined ? '' : `error ${error.code}`;
  const message = [code, cleanMessage(error.words, scrub)].filter((part) => part !== '').join(': ');
  return { id, notFound: is === 'notFound', message };
}

const noDetail = { code: undefined, event: undefined, backoffSeconds: undefined };
