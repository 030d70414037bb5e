import { isUtf8 } from 'node:buffer';
import { isJsonObject, type Json, parseJson } from '../assets/json.ts';
import type { AnswerRecord, AssetCall, RecordsAnswer } from './asset-client.ts';
import { requestId } from './call-body.ts';
import { skipBlanks, stringEnd, valueEnd } from './json-extent.ts';
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
  const members = envelopeMembers(source);
  const result = members.get('result');
  const error = errorMember(source, members.get('error'));
  if (error !== undefined) {
    if (result !== undefined && textAt(source, result) !== 'null')
      throw new MalformedAnswer('both a result and an error');
    return { kind: 'error', error };
  }
  if (result === undefined) throw new MalformedAnswer('neither a result nor an error');
  if (parsedMember(source, members.get('jsonrpc')) !== '2.0') throw new MalformedAnswer('no JSON-RPC 2.0');
  const elements = call.method === 'getAssets' ? arrayElements(source, result) : singleElement(source, result);
  const records: AnswerRecord[] = [];
  let idless = 0;
  for (const element of elements) {
    const text = textAt(source, element);
    if (text === 'null') continue;
    const value = parsed(text);
    if (isJsonObject(value) && typeof value['id'] === 'string') records.push({ id: value['id'], value, text });
    else idless += 1;
  }
  const otherResponseId = parsedMember(source, members.get('id')) !== requestId;
  return { kind: 'records', body, records, idless, otherResponseId };
}

/** The answer's bytes, and their latin1 view, in which a position is a position in the bytes. */
interface Source {
  readonly bytes: Buffer;
  readonly view: string;
}

interface Extent {
  readonly start: number;
  readonly end: number;
}

function textAt(source: Source, extent: Extent): string {
  return source.bytes.toString('utf8', extent.start, extent.end);
}

/** The members of the outermost object, the last of equal names; `result` and `error` must not be ambiguous. */
function envelopeMembers({ bytes, view }: Source): Map<string, Extent> {
  const members = new Map<string, Extent>();
  let at = skipBlanks(view, 0);
  if (view[at] !== '{') throw new MalformedAnswer('no JSON object');
  at = skipBlanks(view, at + 1);
  if (view[at] === '}') return atEnd(view, at, members);
  for (;;) {
    if (view[at] !== '"') throw new MalformedAnswer('no whole JSON object');
    const nameEnd = stringEnd(view, at);
    const colon = nameEnd < 0 ? -1 : skipBlanks(view, nameEnd);
    if (view[colon] !== ':') throw new MalformedAnswer('no whole JSON object');
    const name = parsed(bytes.toString('utf8', at, nameEnd));
    const start = skipBlanks(view, colon + 1);
    const end = valueEnd(view, start);
    if (end < 0) throw new MalformedAnswer('it ends too early');
    if (typeof name !== 'string' || (members.has(name) && (name === 'result' || name === 'error'))) {
      throw new MalformedAnswer('a member occurs twice');
    }
    members.set(name, { start, end });
    // Members that nobody asks for must be JSON too, else the body is not whole.
    if (name !== 'result') parsed(bytes.toString('utf8', start, end));
    at = skipBlanks(view, end);
    if (view[at] === '}') return atEnd(view, at, members);
    if (view[at] !== ',') throw new MalformedAnswer('no whole JSON object');
    at = skipBlanks(view, at + 1);
  }
}

function atEnd(view: string, brace: number, members: Map<string, Extent>): Map<string, Extent> {
  if (skipBlanks(view, brace + 1) !== view.length) throw new MalformedAnswer('something follows the JSON object');
  return members;
}

/** Cuts an array into its elements. Each is parsed afterwards, which proves that the cut is right: JSON has no value that begins another. */
function* arrayElements({ view }: Source, array: Extent): Generator<Extent> {
  if (view[array.start] !== '[') throw new MalformedAnswer('the result is no array');
  let start = skipBlanks(view, array.start + 1);
  if (start === array.end - 1) return;
  for (;;) {
    const end = valueEnd(view, start);
    if (end < 0 || end >= array.end) throw new MalformedAnswer('the result is no whole array');
    yield { start, end };
    const next = skipBlanks(view, end);
    if (next === array.end - 1 && view[next] === ']') return;
    if (view[next] !== ',') throw new MalformedAnswer('the result is no whole array');
    start = skipBlanks(view, next + 1);
  }
}

function singleElement({ view }: Source, result: Extent): Extent[] {
  const first = view[result.start];
  if (first !== '{' && first !== 'n') throw new MalformedAnswer('the result is no object');
  return [result];
}

function errorMember(source: Source, extent: Extent | undefined): RpcError | undefined {
  const value = parsedMember(source, extent);
  if (value === undefined || value === null) return undefined;
  const error = rpcError(value);
  if (error === undefined) throw new MalformedAnswer('its error says nothing');
  return error;
}

function parsedMember(source: Source, extent: Extent | undefined): Json | undefined {
  return extent === undefined ? undefined : parsed(textAt(source, extent));
}

function parsed(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw new MalformedAnswer('no valid JSON', error);
  }
}
