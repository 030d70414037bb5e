import { expect } from 'vitest';
import type { Target } from './target.ts';

/** One line of the table: a rule, where it stands, and how a server is asked whether it keeps it. */
export interface Row {
  /** `specification 4`, or `practice` where the specification is silent and decision 0023 says what was chosen. */
  readonly source: string;
  readonly rule: string;
  /** Resolves to `not seen` when the server gave no occasion to tell; rejects when it breaks the rule. */
  readonly check: (target: Target) => Promise<'kept' | 'not seen'>;
}

/** A row whose check always finds occasion. */
export function row(source: string, rule: string, check: (target: Target) => Promise<void>): Row {
  return {
    source,
    rule,
    check: async (target) => {
      await check(target);
      return 'kept';
    },
  };
}

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly headers: Headers;
  readonly text: string;
}

export interface SendOptions {
  readonly method?: string;
  readonly path?: string;
  readonly contentType?: string;
}

/** Sends a body to the server's path: text as it is, anything else as JSON. */
export async function send(target: Target, body: unknown, options: SendOptions = {}): Promise<Reply> {
  const { method = 'POST', path = `/v3/${target.key}`, contentType = 'application/json' } = options;
  const response = await fetch(`${target.url}${path}`, {
    method,
    redirect: 'manual',
    headers: contentType === '' ? {} : { 'content-type': contentType },
    ...(method === 'GET' ? {} : { body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }),
  });
  const type = response.headers.get('content-type') ?? '';
  return { status: response.status, type, headers: response.headers, text: await response.text() };
}

export interface RpcReply {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Calls a method with the request id 1 and parses the answer. */
export async function callMethod(target: Target, method: string, params: unknown): Promise<RpcReply> {
  const reply = await send(target, { jsonrpc: '2.0', id: 1, method, params });
  expect(reply.status).toBe(200);
  return JSON.parse(reply.text) as RpcReply;
}

/** The records that a `getAssets` call brings, without its nulls. */
export async function recordsOf(target: Target, config?: Readonly<Record<string, boolean>>): Promise<object[]> {
  const params = config === undefined ? [target.ids] : [target.ids, config];
  const { result } = await callMethod(target, 'getAssets', params);
  expect(result).toBeInstanceOf(Array);
  return (result as (object | null)[]).filter((record) => record !== null);
}
