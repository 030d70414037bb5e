import { isUtf8 } from 'node:buffer';
import { closeBrace, closeBracket, colon, comma, lowerN, openBrace, openBracket } from '../../../lib/ascii.ts';
import { type Json, parseJson, isTooDeep, mostJsonDepth, isJsonObject, stringifyJson } from '../../../lib/json/json.ts';
import { countValues, jsonEnd, JsonScanner, mostValues } from '../../../lib/scan/json-scanner.ts';
import { utf8Text } from '../../records/texts.ts';
import { type RpcError, rpcError, classifyError } from './classify-error.ts';
import { type ErrorEntry, isAsset, isErrorEntry } from '../../records/drift.ts';
import type { AssetCall, ElementReader, RecordError, RecordsAnswer } from '../asset-client.ts';
import { requestId } from './call-body.ts';
import { cleanMessage, type Scrub } from './service-address.ts';

/** The bytes are no whole, well-formed answer to the call. It never means that assets are missing. */
export class MalformedAnswer extends Error {
  constructor(what: string, cause?: unknown) {
    super(`malformed answer: ${what}`, cause === undefined ? undefined : { cause });
    this.name = 'MalformedAnswer';
  }
}

/** Walks the JSON text of an answer: each method begins at `json.at`, and leaves it behind what it took. */
export class AnswerText {
  readonly body: Uint8Array;
  readonly json: JsonScanner;
  readonly #mostMade: number;
  #made = 0;

  /**
   * @param mostMade most values that are made into objects, which take far more memory than their text
   * @throws {MalformedAnswer} when it is not UTF-8
   */
  constructor(body: Uint8Array, mostMade: number) {
    if (!isUtf8(body)) throw new MalformedAnswer('not valid UTF-8');
    this.body = body;
    this.json = new JsonScanner(body);
    this.#mostMade = mostMade;
  }

  /** An object. @param member takes the value of a member by its name, and moves behind it */
  object(member: (name: string) => void): void {
    const { json } = this;
    if (json.next() !== openBrace) throw new MalformedAnswer('not a JSON object');
    json.at += 1;
    if (json.next() !== closeBrace) {
      for (;;) {
        member(this.#name());
        const byte = json.next();
        if (byte === closeBrace) break;
        if (byte !== comma) throw new MalformedAnswer('an incomplete JSON object');
        json.at += 1;
        json.next();
      }
    }
    json.at += 1;
  }

  /** An array. @param element takes an element, and moves behind it */
  array(element: () => void, most: number): void {
    this.arrayOf(() => {
      element();
      return 1;
    }, most);
  }

  /** An array. @param elements takes elements and the commas between them, up to so many, moves behind the last, and gives how many */
  arrayOf(elements: (most: number) => number, most: number): void {
    const { json } = this;
    json.at += 1;
    if (json.next() !== closeBracket) {
      for (let count = 0; ; ) {
        if (count >= most) throw new MalformedAnswer(`more than ${most} records`);
        count += elements(most - count);
        const byte = json.next();
        if (byte === closeBracket) break;
        if (byte !== comma) throw new MalformedAnswer('an incomplete array');
        json.at += 1;
        json.next();
      }
    }
    json.at += 1;
  }

  /** An unused value must be valid JSON too, or the body is not whole; but it is not parsed into an object. */
  pass(): void {
    const start = this.json.at;
    if (!this.json.value()) this.parsed(start);
  }

  /** Makes the value that begins at `start`, be it deep or no JSON at all, and moves behind it. */
  parsed(start = this.json.at): Json {
    const end = this.#end(start);
    this.#made += countValues(this.body, start, end);
    if (this.#made > this.#mostMade)
      throw new MalformedAnswer(`more than ${this.#mostMade} values besides plain records`);
    return parsed(utf8Text(this.body, start, end));
  }

  #name(): string {
    const { json } = this;
    const start = json.at;
    if (!json.string()) throw new MalformedAnswer('an incomplete JSON object');
    const name = JSON.parse(utf8Text(this.body, start, json.at)) as string;
    if (json.next() !== colon) throw new MalformedAnswer('an incomplete JSON object');
    json.at += 1;
    json.next();
    return name;
  }

  #end(start: number): number {
    const { json } = this;
    json.at = start;
    if (!json.value()) {
      json.at = jsonEnd(this.body, start);
      if (json.at < 0) throw new MalformedAnswer('it is truncated');
    }
    return json.at;
  }
}

/** The members of an answer other than `result`. */
const telling: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'error']);

const byteOrderMark = [0xef, 0xbb, 0xbf];

/** An answer: an error, or else a result. */
type Envelope<Result> = { readonly responseId: Json | undefined } & (
  | { readonly error: RpcError }
  | { readonly error: undefined; readonly result: Result }
);

/**
 * Reads the one object that an answer is, from its first byte to its last.
 * @param read takes the value of `result`, and moves behind it
 * @throws {MalformedAnswer} when it is cut, no JSON or no JSON-RPC
 */
export function readEnvelope<Result>(text: AnswerText, read: () => Result): Envelope<Result> {
  const { json, body } = text;
  const members = new Map<string, Json>();
  let result: { readonly value: Result; readonly isNull: boolean } | undefined;
  // RFC 8259 lets a reader pass over a byte order mark, and an answer that is refused is paid for again.
  if (byteOrderMark.every((byte, at) => body[at] === byte)) json.at = byteOrderMark.length;
  text.object((name) => {
    if (telling.has(name)) members.set(name, text.parsed());
    else if (name !== 'result') text.pass();
    else if (result !== undefined) throw new MalformedAnswer('two results');
    else {
      const isNull = body[json.at] === lowerN;
      result = { value: read(), isNull };
    }
  });
  json.next();
  if (json.at !== body.length) throw new MalformedAnswer('there is text after the JSON object');
  const responseId = members.get('id');
  const error = errorOf(members.get('error'), result !== undefined && !result.isNull);
  if (error !== undefined) return { error, responseId };
  if (result === undefined) throw new MalformedAnswer('neither a result nor an error');
  if (members.get('jsonrpc') !== '2.0') throw new MalformedAnswer('not JSON-RPC 2.0');
  return { error, result: result.value, responseId };
}

function errorOf(value: Json | undefined, hasResult: boolean): RpcError | undefined {
  if (value === undefined || value === null) return undefined;
  const error = rpcError(value);
  if (error === undefined) throw new MalformedAnswer('its error has no message');
  if (hasResult) throw new MalformedAnswer('both a result and an error');
  return error;
}

function parsed(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw new MalformedAnswer('not valid JSON', error);
  }
}

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
