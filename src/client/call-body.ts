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

/** The request body: positional params, and `config` only when a flag is on, as some servers refuse unknown members. */
export function callBody(call: AssetCall): string {
  const on = flagsOf[call.method].filter((flag) => call.flags[flag]);
  const first = call.method === 'getAssets' ? call.ids : call.ids[0];
  const config = Object.fromEntries(on.map((flag) => [flag, true]));
  return JSON.stringify({
    jsonrpc: '2.0',
    id: requestId,
    method: call.method,
    params: on.length === 0 ? [first] : [first, config],
  });
}

/** Names a call by what it asks: 64 hex digits, the same for the same method, flags and ids. */
export function callKey(call: AssetCall): string {
  const known = keys.get(call);
  if (known !== undefined) return known;
  const key = createHash('sha256').update(callBody(call)).digest('hex');
  keys.set(call, key);
  return key;
}

/** Several wrappers name the same call, and its ids are many. */
const keys = new WeakMap<AssetCall, string>();
