import { isUtf8 } from 'node:buffer';
import { isJsonObject, type Json, parseJson, stringifyJson } from '../../../src/lib/json/json.ts';

/** An error object of JSON-RPC 2.0. */
export interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** One request of a body. `id` is JSON text, to be echoed as it came; undefined for a notification. */
export interface RpcRequest {
  readonly id: string | undefined;
  readonly method: string;
  readonly params: unknown;
}

/** A member of a body that is not a request; `id` if it could be read. */
export interface RpcMisfit {
  readonly id: string;
  readonly error: ErrorObject;
}

/** What a request body holds. */
export type RpcBody =
  | { readonly kind: 'single'; readonly members: readonly [RpcRequest | RpcMisfit] }
  | { readonly kind: 'batch'; readonly members: readonly (RpcRequest | RpcMisfit)[] };

/** Codes of JSON-RPC 2.0, section 5.1. */
const parseError: ErrorObject = { code: -32700, message: 'Parse error' };
const invalidRequest: ErrorObject = { code: -32600, message: 'Invalid Request' };
export const methodNotFound: ErrorObject = { code: -32601, message: 'Method not found' };
export const internalError: ErrorObject = { code: -32603, message: 'Internal error' };

export function invalidParams(data: string): ErrorObject {
  return { code: -32602, message: `Invalid params: ${data}` };
}

export function isMisfit(member: RpcRequest | RpcMisfit): member is RpcMisfit {
  return 'error' in member;
}

/** Reads a request body. An empty batch is one invalid request, as JSON-RPC 2.0 wants it. */
export function readBody(bytes: Buffer): RpcBody {
  const value = isUtf8(bytes) ? parseOrUndefined(bytes.toString('utf8')) : undefined;
  if (value === undefined) return { kind: 'single', members: [{ id: 'null', error: parseError }] };
  if (!Array.isArray(value))
    return { kind: 'single', members: [readMember(value, () => parseJson(bytes.toString('utf8')))] };
  if (value.length === 0) return { kind: 'single', members: [{ id: 'null', error: invalidRequest }] };
  let exact: Json | undefined;
  const exactMember = (index: number): Json | undefined => {
    exact ??= parseJson(bytes.toString('utf8'));
    return Array.isArray(exact) ? exact[index] : undefined;
  };
  return { kind: 'batch', members: value.map((member, index) => readMember(member, () => exactMember(index))) };
}

/** What stands before and behind the text of a result. */
export const resultHead = '{"jsonrpc":"2.0","result":';
export function resultTail(id: string): string {
  return `,"id":${id}}`;
}

export function errorAnswer(id: string, error: ErrorObject): string {
  return `{"jsonrpc":"2.0","error":${JSON.stringify(error)},"id":${id}}`;
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function readMember(value: unknown, exact: () => Json | undefined): RpcRequest | RpcMisfit {
  if (!isRecord(value)) return { id: 'null', error: invalidRequest };
  const id = idText(value, exact);
  const { jsonrpc, method, params } = value;
  const wellFormed =
    jsonrpc === '2.0' &&
    typeof method === 'string' &&
    (params === undefined || isRecord(params) || Array.isArray(params));
  if (id === invalidId || !wellFormed) return { id: typeof id === 'string' ? id : 'null', error: invalidRequest };
  return { id, method, params };
}

const invalidId = Symbol('invalid id');

/** The id as JSON text, a number too long for JavaScript included; undefined when there is none. */
function idText(
  request: Readonly<Record<string, unknown>>,
  exact: () => Json | undefined,
): string | undefined | typeof invalidId {
  if (!Object.hasOwn(request, 'id')) return undefined;
  const { id } = request;
  if (typeof id === 'string' || id === null || Number.isSafeInteger(id)) return JSON.stringify(id);
  if (typeof id !== 'number') return invalidId;
  const member = exact();
  return isJsonObject(member) && member['id'] !== undefined ? stringifyJson(member['id']) : invalidId;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
