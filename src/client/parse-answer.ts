import { isUtf8 } from 'node:buffer';
import { isJsonObject, type Json, parseJson } from '../assets/json.ts';
import type { AnswerRecord, AssetCall, RecordsAnswer } from './asset-client.ts';
import { requestId } from './call-body.ts';
import { extentOf, type JsonExtent, skipBlanks, stringEnd } from './json-extent.ts';
import { type RpcError, rpcError } from './rpc-error.ts';

/** A whole, well-formed JSON-RPC answer: records, or an error object that is still to be classified. */
export type ParsedAnswer = RecordsAnswer | { readonly kind: 'error'; readonly error: RpcError };

/** The bytes are no whole, well-formed answer to the call. It never means that assets are missing. */
export class MalformedAnswer extends Error {
  constructor(what: string, cause?: unknown) {
    super(`malformed answer: ${what}`, cause === undefined ? undefined : { cause });
    this.name = 'MalformedAnswer';
  }
}

/**
 * Reads a JSON-RPC 2.0 answer, fresh or from the journal: the same bytes always give the same answer.
 * The records are cut out of the bytes and parsed one by one, so that each keeps its text as the service sent it.
 * @throws {MalformedAnswer} when it is cut, no JSON, no JSON-RPC, or its result has not the shape the method promises.
 */
export function parseAnswer(body: Uint8Array, call: AssetCall): ParsedAnswer {
  if (!isUtf8(body)) throw new MalformedAnswer('no valid UTF-8');
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const source: Source = { bytes, view: bytes.toString('latin1') };
  const { members, result } = readEnvelope(source);
  const error = errorOf(members);
  if (error !== undefined) {
    if (result !== undefined && !isNull(source, result)) throw new MalformedAnswer('both a result and an error');
    return { kind: 'error', error };
  }
  if (result === undefined) throw new MalformedAnswer('neither a result nor an error');
  if (members.get('jsonrpc') !== '2.0') throw new MalformedAnswer('no JSON-RPC 2.0');
  if (!hasPromisedShape(source, result, call)) {
    throw new MalformedAnswer(call.method === 'getAssets' ? 'the result is no array' : 'the result is no object');
  }
  const records: AnswerRecord[] = [];
  let idless = 0;
  for (const span of result.spans) {
    const text = textAt(source, span);
    if (text === 'null') continue;
    const value = parsed(text, span.plainNumbers);
    if (isJsonObject(value) && typeof value['id'] === 'string') records.push({ id: value['id'], value, text });
    else idless += 1;
  }
  return { kind: 'records', body, records, idless, otherResponseId: members.get('id') !== requestId };
}

/** The answer's bytes, and their latin1 view, in which a position is a position in the bytes. */
interface Source {
  readonly bytes: Buffer;
  readonly view: string;
}

interface Span extends JsonExtent {
  readonly start: number;
}

/** Where the result stands: the elements of an array, or the one value that it is. Not yet parsed. */
interface Result {
  readonly isArray: boolean;
  readonly spans: readonly Span[];
  readonly end: number;
}

interface Envelope {
  /** All but `result`, the last of equal names. */
  readonly members: ReadonlyMap<string, Json>;
  readonly result: Result | undefined;
}

function readEnvelope(source: Source): Envelope {
  const { view } = source;
  const members = new Map<string, Json>();
  let result: Result | undefined;
  let at = skipBlanks(view, 0);
  if (view[at] !== '{') throw new MalformedAnswer('no JSON object');
  at = skipBlanks(view, at + 1);
  while (view[at] !== '}') {
    const { name, valueAt } = readName(source, at);
    let end: number;
    if (name === 'result') {
      if (result !== undefined) throw new MalformedAnswer('two results');
      result = view[valueAt] === '[' ? cutArray(source, valueAt) : oneValue(source, valueAt);
      end = result.end;
    } else {
      // Members that nobody asks for must be JSON too, else the body is not whole.
      const span = spanAt(source, valueAt);
      members.set(name, parsed(textAt(source, span)));
      end = span.end;
    }
    at = skipBlanks(view, end);
    if (view[at] === ',') at = skipBlanks(view, at + 1);
    else if (view[at] !== '}') throw new MalformedAnswer('no whole JSON object');
    if (view[at] === '}' && view[end] === ',') throw new MalformedAnswer('a comma too many');
  }
  if (skipBlanks(view, at + 1) !== view.length) throw new MalformedAnswer('something follows the JSON object');
  return { members, result };
}

function readName(source: Source, at: number): { name: string; valueAt: number } {
  const { view } = source;
  if (view[at] !== '"') throw new MalformedAnswer('no whole JSON object');
  const end = stringEnd(view, at);
  const colon = end < 0 ? -1 : skipBlanks(view, end);
  if (view[colon] !== ':') throw new MalformedAnswer('no whole JSON object');
  const name = parsed(source.bytes.toString('utf8', at, end));
  if (typeof name !== 'string') throw new MalformedAnswer('no whole JSON object');
  return { name, valueAt: skipBlanks(view, colon + 1) };
}

/** Cuts an array into its elements. Each is parsed afterwards, which proves that the cut is right: no JSON object or array begins another. */
function cutArray(source: Source, at: number): Result {
  const { view } = source;
  const spans: Span[] = [];
  let next = skipBlanks(view, at + 1);
  if (view[next] === ']') return { isArray: true, spans, end: next + 1 };
  for (;;) {
    const span = spanAt(source, next);
    spans.push(span);
    next = skipBlanks(view, span.end);
    if (view[next] === ']') return { isArray: true, spans, end: next + 1 };
    if (view[next] !== ',') throw new MalformedAnswer('no whole array');
    next = skipBlanks(view, next + 1);
  }
}

function oneValue(source: Source, at: number): Result {
  const span = spanAt(source, at);
  return { isArray: false, spans: [span], end: span.end };
}

function spanAt({ view }: Source, start: number): Span {
  const { end, plainNumbers } = extentOf(view, start);
  if (end < 0) throw new MalformedAnswer('it ends too early');
  return { start, end, plainNumbers };
}

function textAt({ bytes }: Source, span: Span): string {
  return bytes.toString('utf8', span.start, span.end);
}

function isNull(source: Source, { isArray, spans }: Result): boolean {
  return !isArray && spans.every((span) => textAt(source, span) === 'null');
}

function hasPromisedShape(source: Source, result: Result, call: AssetCall): boolean {
  if (call.method === 'getAssets') return result.isArray;
  return !result.isArray && (source.view[result.spans[0]?.start ?? 0] === '{' || isNull(source, result));
}

function errorOf(members: ReadonlyMap<string, Json>): RpcError | undefined {
  const value = members.get('error');
  if (value === undefined || value === null) return undefined;
  const error = rpcError(value);
  if (error === undefined) throw new MalformedAnswer('its error says nothing');
  return error;
}

/** Where all numbers are plain, the search for others is spared: it takes half as long as parsing. */
function parsed(text: string, plainNumbers = false): Json {
  try {
    return plainNumbers ? (JSON.parse(text) as Json) : parseJson(text);
  } catch (error) {
    throw new MalformedAnswer('no valid JSON', error);
  }
}
