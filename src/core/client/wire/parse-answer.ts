import { isUtf8 } from 'node:buffer';
import { type ErrorEntry, isAsset, isErrorEntry } from '../../records/asset.ts';
import { isJsonObject, type Json, parseJson, stringifyJson } from '../../../lib/json/json.ts';
import { utf8Text } from '../../records/text-bytes.ts';
import { countValues, jsonEnd, mostValues } from '../../../lib/scan/json-end.ts';
import { JsonScanner } from '../../../lib/scan/json-scanner.ts';
import type { AssetCall, ElementReader, RecordError, RecordsAnswer } from '../asset-client.ts';
import { requestId } from './call-body.ts';
import { classifyError, type RpcError, rpcError } from './classify-error.ts';
import { cleanMessage, type Scrub } from './clean-message.ts';
import { closeBrace, closeBracket, colon, comma, lowerN, openBrace, openBracket } from '../../../lib/ascii.ts';

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

/** The bytes are no whole, well-formed answer to the call. It never means that assets are missing. */
export class MalformedAnswer extends Error {
  constructor(what: string, cause?: unknown) {
    super(`malformed answer: ${what}`, cause === undefined ? undefined : { cause });
    this.name = 'MalformedAnswer';
  }
}

/**
 * Reads a JSON-RPC 2.0 answer, fresh or from the journal: the same bytes always give the same answer.
 * The records are read where they lie in the bytes, so that each keeps its text as the service sent it.
 * @param scrub takes the key out of the words of errors
 * @throws {MalformedAnswer} when it is cut, no JSON, no JSON-RPC, or its result has not the shape the method promises.
 */
export function parseAnswer(body: Uint8Array, call: AssetCall, scrub: Scrub = (text) => text): ParsedAnswer {
  if (!isUtf8(body)) throw new MalformedAnswer('not valid UTF-8');
  const records = call.reader?.(body);
  const envelope = new AnswerReader(body, records, call.ids.length).read();
  const responseId = envelope.members.get('id');
  const error = errorOf(envelope);
  if (error !== undefined) return { kind: 'error', error, responseId };
  const { idless, hasUnmatched, errors: entries } = resultOf(envelope, call.method);
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

/** The members of an answer other than `result`. */
const telling: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'error']);

interface Envelope {
  /** Those of `telling`, the last of equal names. */
  readonly members: ReadonlyMap<string, Json>;
  readonly result: Result | undefined;
}

/** Far more than a service adds of its own: each element takes memory, and a small answer can unpack to millions. */
function mostElements(asked: number): number {
  return 10 * asked + 10_000;
}

/** The same for values that are parsed into objects: members other than the result, and unusual records. */
function mostMade(asked: number): number {
  return 500 * asked + mostValues;
}

const byteOrderMark = [0xef, 0xbb, 0xbf];

/** Reads the one object that an answer is, from its first byte to its last. */
class AnswerReader {
  readonly #body: Uint8Array;
  readonly #json: JsonScanner;
  readonly #records: ElementReader | undefined;
  readonly #mostElements: number;
  readonly #mostMade: number;
  #made = 0;
  #idless = 0;
  #hasUnmatched = false;
  readonly #errors: ErrorEntry[] = [];

  constructor(body: Uint8Array, records: ElementReader | undefined, asked: number) {
    this.#body = body;
    this.#mostElements = mostElements(asked);
    this.#mostMade = mostMade(asked);
    this.#json = new JsonScanner(body);
    this.#records = records;
  }

  read(): Envelope {
    const json = this.#json;
    const members = new Map<string, Json>();
    let result: Result | undefined;
    // RFC 8259 lets a reader pass over a byte order mark, and an answer that is refused is paid for again.
    if (byteOrderMark.every((byte, at) => this.#body[at] === byte)) json.at = byteOrderMark.length;
    if (json.next() !== openBrace) throw new MalformedAnswer('not a JSON object');
    json.at += 1;
    if (json.next() !== closeBrace) {
      for (;;) {
        const name = this.#name();
        if (telling.has(name)) members.set(name, this.#parsed(json.at));
        else if (name !== 'result') this.#pass();
        else if (result === undefined) result = this.#result();
        else throw new MalformedAnswer('two results');
        const byte = json.next();
        if (byte === closeBrace) break;
        if (byte !== comma) throw new MalformedAnswer('an incomplete JSON object');
        json.at += 1;
        json.next();
      }
    }
    json.at += 1;
    json.next();
    if (json.at !== this.#body.length) throw new MalformedAnswer('there is text after the JSON object');
    return { members, result };
  }

  #name(): string {
    const json = this.#json;
    const start = json.at;
    if (!json.string()) throw new MalformedAnswer('an incomplete JSON object');
    const name = JSON.parse(this.#text(start, json.at)) as string;
    if (json.next() !== colon) throw new MalformedAnswer('an incomplete JSON object');
    json.at += 1;
    json.next();
    return name;
  }

  /** An unused value must be valid JSON too, or the body is not whole; but it is not parsed into an object. */
  #pass(): void {
    const start = this.#json.at;
    if (!this.#json.value()) this.#parsed(start);
  }

  #result(): Result {
    const json = this.#json;
    const first = this.#body[json.at];
    const isArray = first === openBracket;
    if (isArray) this.#elements();
    else this.#someElements(1);
    const isObject = first === openBrace;
    return {
      isArray,
      isObject,
      isNull: first === lowerN,
      idless: this.#idless,
      hasUnmatched: this.#hasUnmatched,
      errors: this.#errors,
    };
  }

  #elements(): void {
    const json = this.#json;
    json.at += 1;
    if (json.next() !== closeBracket) {
      for (let count = 0; ; ) {
        if (count >= this.#mostElements) throw new MalformedAnswer(`more than ${this.#mostElements} records`);
        count += this.#someElements(this.#mostElements - count);
        const byte = json.next();
        if (byte === closeBracket) break;
        if (byte !== comma) throw new MalformedAnswer('an incomplete array');
        json.at += 1;
        json.next();
      }
    }
    json.at += 1;
  }

  /** Takes usual records up to `most`, or one element of any kind, and gives how many. */
  #someElements(most: number): number {
    const json = this.#json;
    const records = this.#records;
    const start = json.at;
    const before = records?.count ?? 0;
    const end = records?.read(start, most) ?? -1;
    if (records === undefined) this.#pass();
    else if (end < 0) this.#unusual(records);
    else {
      json.at = end;
      return records.count - before;
    }
    return 1;
  }

  #unusual(records: ElementReader): void {
    const start = this.#json.at;
    const value = this.#parsed(start);
    if (value === null) return;
    if (!isAsset(value)) this.#passIdless(value);
    else if (isErrorEntry(value)) this.#errors.push(value);
    else records.add(value, start, this.#json.at);
  }

  #passIdless(value: Json): void {
    this.#idless += 1;
    const isEmpty = isJsonObject(value) && Object.keys(value).length === 0;
    if (!isEmpty) this.#hasUnmatched = true;
  }

  /** Makes the value that begins at `start`, be it deep or no JSON at all, and moves behind it. */
  #parsed(start: number): Json {
    const end = this.#end(start);
    this.#made += countValues(this.#body, start, end);
    if (this.#made > this.#mostMade)
      throw new MalformedAnswer(`more than ${this.#mostMade} values besides plain records`);
    return parsed(this.#text(start, end));
  }

  #end(start: number): number {
    const json = this.#json;
    json.at = start;
    if (!json.value()) {
      json.at = jsonEnd(this.#body, start);
      if (json.at < 0) throw new MalformedAnswer('it is truncated');
    }
    return json.at;
  }

  #text(start: number, end: number): string {
    return utf8Text(this.#body, start, end);
  }
}

function errorOf({ members, result }: Envelope): RpcError | undefined {
  const value = members.get('error');
  if (value === undefined || value === null) return undefined;
  const error = rpcError(value);
  if (error === undefined) throw new MalformedAnswer('its error has no message');
  if (result !== undefined && !result.isNull) throw new MalformedAnswer('both a result and an error');
  return error;
}

/** The result of an answer without an error, in the shape that the method promises. */
function resultOf({ members, result }: Envelope, method: AssetCall['method']): Result {
  if (result === undefined) throw new MalformedAnswer('neither a result nor an error');
  if (members.get('jsonrpc') !== '2.0') throw new MalformedAnswer('not JSON-RPC 2.0');
  if (method === 'getAssets' && !result.isArray) throw new MalformedAnswer('the result is not an array');
  if (method === 'getAsset' && !result.isObject && !result.isNull)
    throw new MalformedAnswer('the result is not an object');
  return result;
}

function recordError({ id, error: value }: ErrorEntry, scrub: Scrub): RecordError {
  const error = rpcError(value) ?? { ...noDetail, words: typeof value === 'string' ? value : stringifyJson(value) };
  const is = classifyError({ status: 200, error, text: '', hasRetryAfter: false });
  const code = error.code === undefined ? '' : `error ${error.code}`;
  const message = [code, cleanMessage(error.words, scrub)].filter((part) => part !== '').join(': ');
  return { id, notFound: is === 'notFound', message };
}

const noDetail = { code: undefined, event: undefined, backoffSeconds: undefined };

function parsed(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw new MalformedAnswer('not valid JSON', error);
  }
}
