import { isUtf8 } from 'node:buffer';
import { isAsset } from '../assets/asset.ts';
import { type Json, parseJson } from '../assets/json.ts';
import { countValues, mostValues } from '../assets/scan/count-values.ts';
import { jsonEnd } from '../assets/scan/json-end.ts';
import { JsonScanner } from '../assets/scan/json-scanner.ts';
import { RecordRows } from '../assets/scan/record-rows.ts';
import { utf8Text } from '../assets/utf8-text.ts';
import type { AssetCall, RecordsAnswer } from './asset-client.ts';
import { requestId } from './call-body.ts';
import { type RpcError, rpcError } from './rpc-error.ts';

/** A whole, well-formed JSON-RPC answer: records, or an error object that is still to be classified. */
export type ParsedAnswer = ParsedRecords | { readonly kind: 'error'; readonly error: RpcError };

export interface ParsedRecords extends RecordsAnswer {
  readonly rows: RecordRows;
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
 * @throws {MalformedAnswer} when it is cut, no JSON, no JSON-RPC, or its result has not the shape the method promises.
 */
export function parseAnswer(body: Uint8Array, call: AssetCall): ParsedAnswer {
  if (!isUtf8(body)) throw new MalformedAnswer('no valid UTF-8');
  const rows = new RecordRows(body, call.plan);
  const { members, result } = new AnswerReader(body, rows, call.ids.length).read();
  const error = errorOf(members);
  if (error !== undefined) {
    if (result !== undefined && !result.isNull) throw new MalformedAnswer('both a result and an error');
    return { kind: 'error', error };
  }
  if (result === undefined) throw new MalformedAnswer('neither a result nor an error');
  if (members.get('jsonrpc') !== '2.0') throw new MalformedAnswer('no JSON-RPC 2.0');
  if (call.method === 'getAssets' && !result.isArray) throw new MalformedAnswer('the result is no array');
  if (call.method === 'getAsset' && !result.isObject && !result.isNull) {
    throw new MalformedAnswer('the result is no object');
  }
  const { idless } = result;
  return { kind: 'records', body, rows, idless, otherResponseId: members.get('id') !== requestId };
}

interface Result {
  readonly isArray: boolean;
  readonly isObject: boolean;
  readonly isNull: boolean;
  /** Elements that are neither null nor a record with an id. */
  readonly idless: number;
}

/** The members beside `result` that tell what an answer is. */
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

/** The same for values that are not read where they lie but made: beside the result, and of records that are odd. */
function mostMade(asked: number): number {
  return 500 * asked + mostValues;
}

const byteOrderMark = [0xef, 0xbb, 0xbf];

/** Reads the one object that an answer is, from its first byte to its last. */
class AnswerReader {
  readonly #body: Uint8Array;
  readonly #json: JsonScanner;
  readonly #rows: RecordRows;
  readonly #mostElements: number;
  readonly #mostMade: number;
  #made = 0;
  #idless = 0;

  constructor(body: Uint8Array, rows: RecordRows, asked: number) {
    this.#body = body;
    this.#mostElements = mostElements(asked);
    this.#mostMade = mostMade(asked);
    this.#json = new JsonScanner(body);
    this.#rows = rows;
  }

  read(): Envelope {
    const json = this.#json;
    const members = new Map<string, Json>();
    let result: Result | undefined;
    // RFC 8259 lets a reader pass over a byte order mark, and an answer that is refused is paid for again.
    if (byteOrderMark.every((byte, at) => this.#body[at] === byte)) json.at = byteOrderMark.length;
    if (json.next() !== 0x7b) throw new MalformedAnswer('no JSON object');
    json.at += 1;
    if (json.next() !== 0x7d) {
      for (;;) {
        const name = this.#name();
        if (telling.has(name)) members.set(name, this.#parsed(json.at));
        else if (name !== 'result') this.#pass();
        else if (result === undefined) result = this.#result();
        else throw new MalformedAnswer('two results');
        const byte = json.next();
        if (byte === 0x7d) break;
        if (byte !== 0x2c) throw new MalformedAnswer('no whole JSON object');
        json.at += 1;
        json.next();
      }
    }
    json.at += 1;
    json.next();
    if (json.at !== this.#body.length) throw new MalformedAnswer('something follows the JSON object');
    return { members, result };
  }

  #name(): string {
    const json = this.#json;
    const start = json.at;
    if (!json.string()) throw new MalformedAnswer('no whole JSON object');
    const name = JSON.parse(this.#text(start, json.at)) as string;
    if (json.next() !== 0x3a) throw new MalformedAnswer('no whole JSON object');
    json.at += 1;
    json.next();
    return name;
  }

  /** A value that nobody asks for must be JSON too, else the body is not whole; but it is not made. */
  #pass(): void {
    const start = this.#json.at;
    if (!this.#json.value()) this.#parsed(start);
  }

  #result(): Result {
    const json = this.#json;
    const first = this.#body[json.at];
    const isArray = first === 0x5b;
    if (isArray) this.#elements();
    else this.#element();
    const isObject = first === 0x7b;
    return { isArray, isObject, isNull: first === 0x6e, idless: this.#idless };
  }

  #elements(): void {
    const json = this.#json;
    json.at += 1;
    if (json.next() !== 0x5d) {
      for (let count = 1; ; count += 1) {
        if (count > this.#mostElements) throw new MalformedAnswer(`more than ${this.#mostElements} records`);
        this.#element();
        const byte = json.next();
        if (byte === 0x5d) break;
        if (byte !== 0x2c) throw new MalformedAnswer('no whole array');
        json.at += 1;
        json.next();
      }
    }
    json.at += 1;
  }

  #element(): void {
    const json = this.#json;
    const rows = this.#rows;
    const start = json.at;
    const end = rows.read(start);
    if (end >= 0) {
      json.at = end;
      return;
    }
    const value = this.#parsed(start);
    if (value === null) return;
    if (isAsset(value)) rows.add(value, start, json.at);
    else this.#idless += 1;
  }

  /** Makes the value that begins at `start`, be it deep or no JSON at all, and moves behind it. */
  #parsed(start: number): Json {
    const end = this.#end(start);
    this.#made += countValues(this.#body, start, end);
    if (this.#made > this.#mostMade)
      throw new MalformedAnswer(`more than ${this.#mostMade} values beside plain records`);
    return parsed(this.#text(start, end));
  }

  #end(start: number): number {
    const json = this.#json;
    json.at = start;
    if (!json.value()) {
      json.at = jsonEnd(this.#body, start);
      if (json.at < 0) throw new MalformedAnswer('it ends too early');
    }
    return json.at;
  }

  #text(start: number, end: number): string {
    return utf8Text(this.#body, start, end);
  }
}

function errorOf(members: ReadonlyMap<string, Json>): RpcError | undefined {
  const value = members.get('error');
  if (value === undefined || value === null) return undefined;
  const error = rpcError(value);
  if (error === undefined) throw new MalformedAnswer('its error says nothing');
  return error;
}

function parsed(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw new MalformedAnswer('no valid JSON', error);
  }
}
