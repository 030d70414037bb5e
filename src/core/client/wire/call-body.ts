import { createHash } from 'node:crypto';
import type { AssetCall } from '../asset-client.ts';

/** A call is named, in the journal, by the request that it would be with this JSON-RPC `id`. */
const namingId = 1;

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

/**
 * The JSON-RPC `id` that a call is sent with: 31 bits of its key. Other calls have other ids, so an answer to one of them
 * shows; a retry has the same, so a kept answer is judged like a fresh one.
 */
export function requestId(call: AssetCall): number {
  return textsOf(call).id;
}

interface CallTexts {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly key: string;
  readonly id: number;
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
  const rest = Buffer.concat([
    Buffer.from(`,"method":"${method}","params":[`),
    method === 'getAssets' ? ids.toJson() : Buffer.from(`"${ids.first ?? ''}"`),
    Buffer.from(`${config}]}`),
  ]);
  const hash = createHash('sha256').update(head(namingId)).update(rest).digest();
  const id = hash.readUInt32BE(0) >>> 1;
  return { body: Buffer.concat([Buffer.from(head(id)), rest]), key: hash.toString('hex'), id };
}

function head(id: number): string {
  return `{"jsonrpc":"2.0","id":${id}`;
}
