import { createHash } from 'node:crypto';
import type { AssetCall } from './asset-client.ts';

/**
 * The JSON-RPC `id` of every call. One HTTP exchange is one call, so it need not tell calls apart; being constant, it
 * makes the request a pure function of the call.
 */
export const requestId = 1;

/** Flags in the order they are sent; `getAssets` has no `showUnverifiedCollections` (service specification, section 4). */
const flagsOf = {
  getAsset: ['showFungible', 'showUnverifiedCollections', 'showCollectionMetadata'],
  getAssets: ['showFungible', 'showCollectionMetadata'],
} as const;

/** The request body, as UTF-8: positional params, and `config` only when a flag is on, as some servers refuse unknown members. */
export function callBody(call: AssetCall): Uint8Array<ArrayBuffer> {
  return textsOf(call).body;
}

/** Names a call by what it asks: 64 hex digits, the same for the same method, flags and ids. */
export function callKey(call: AssetCall): string {
  return textsOf(call).key;
}

interface CallTexts {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly key: string;
}

/** Several wrappers name the same call, and its ids are many. Bytes lie outside the heap, where what waits for an answer is not copied. */
const known = new WeakMap<AssetCall, CallTexts>();

function textsOf(call: AssetCall): CallTexts {
  const texts = known.get(call) ?? makeTexts(call);
  known.set(call, texts);
  return texts;
}

function makeTexts(call: AssetCall): CallTexts {
  const { method, ids, flags } = call;
  const on = flagsOf[method].filter((flag) => flags[flag]);
  const config = on.length === 0 ? '' : `,${JSON.stringify(Object.fromEntries(on.map((flag) => [flag, true])))}`;
  const body = Buffer.concat([
    Buffer.from(`{"jsonrpc":"2.0","id":${requestId},"method":"${method}","params":[`),
    method === 'getAssets' ? ids.toJson() : Buffer.from(`"${ids.first ?? ''}"`),
    Buffer.from(`${config}]}`),
  ]);
  return { body, key: createHash('sha256').update(body).digest('hex') };
}
