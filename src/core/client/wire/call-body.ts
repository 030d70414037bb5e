import { createHash } from 'node:crypto';
import type { AssetCall } from '../asset-client.ts';
import { defaultDialect, type ServiceDialect } from '../dialects.ts';

/** A call is named, in the journal, by the request that it would be with this JSON-RPC `id`. */
const namingId = 1;

/** The request body, as UTF-8. Flags are sent only when one is on, as some servers refuse unknown members. */
export function callBody(call: AssetCall, dialect: ServiceDialect = defaultDialect): Uint8Array<ArrayBuffer> {
  const { id, body } = textsOf(call);
  return dialect === defaultDialect ? body : Buffer.concat([Buffer.from(head(id)), restOf(call, dialect)]);
}

/**
 * Names a call by what it asks: 64 hex digits, the same for the same method, flags and ids. It is the call in the form of the
 * specification, whatever dialect sends it: what is kept stays good when the provider changes.
 */
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
  const rest = restOf(call, defaultDialect);
  const name = createHash('sha256').update(head(namingId)).update(rest);
  const hash = (call.again === undefined ? name : name.update(`${call.again}`)).digest();
  const id = hash.readUInt32BE(0) >>> 1;
  return { body: Buffer.concat([Buffer.from(head(id)), rest]), key: hash.toString('hex'), id };
}

/** What follows the JSON-RPC `id`. */
function restOf({ method, ids, flags }: AssetCall, dialect: ServiceDialect): Buffer {
  const isOne = method === 'getAsset';
  const on = (isOne ? dialect.flagsOne : dialect.flagsMany).filter((flag) => flags[flag]);
  const config = JSON.stringify(Object.fromEntries(on.map((flag) => [flag, true])));
  const asked = isOne ? Buffer.from(`"${ids.first ?? ''}"`) : ids.toJson();
  const [open, between, close] =
    dialect.params === 'positional'
      ? ['[', `,${config}`, ']']
      : [isOne ? '{"id":' : '{"ids":', `,${JSON.stringify(dialect.options)}:${config}`, '}'];
  return Buffer.concat([
    Buffer.from(`,"method":"${isOne ? dialect.one : dialect.many}","params":${open}`),
    asked,
    Buffer.from(`${on.length === 0 ? '' : between}${close}}`),
  ]);
}

function head(id: number): string {
  return `{"jsonrpc":"2.0","id":${id}`;
}
