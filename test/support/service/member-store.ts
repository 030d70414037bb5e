import { idOfBytes, keyBytes, putIdBytes } from '../../../src/lib/ids/asset-id.ts';
import type { AssetStore } from '../../../packages/practice-service/src/store/asset-store.ts';
import { recordOf, type StoredRecord } from '../../../packages/practice-service/src/store/stored-record.ts';
import { SeededRandom } from '../../../packages/practice-service/src/generated/seeded-random.ts';

/** What all members of such a store have in common, by the filter. */
export const memberAddresses = {
  collection: 'J1S9H3QjnRtBbbuD4HjPV6RpRhwuk4zKbxsnCHuTgh9w',
  owner: '86xCnPeV69n6t3DnyGvkKobf9FdN2H9oiVDdaMpo2MMY',
  creator: 'D3XrkNZz6wx6cofot7Zohsf2KSsu2ArngNk8VqU9cTY3',
  authority: '3pMvTLUA9NzZQd4gi725p89mvND1wRNQM3C8XEv1hTdA',
} as const;

const { collection, owner, creator, authority } = memberAddresses;

/** A record of 420 bytes. */
export function memberRecord(id: string): string {
  return (
    `{"interface":"V1_NFT","id":"${id}","grouping":[{"group_key":"collection","group_value":"${collection}"}],` +
    `"creators":[{"address":"${creator}","share":100,"verified":true}],"authorities":[{"address":"${authority}","scopes":["full"]}],` +
    `"ownership":{"owner":"${owner}"},"burnt":false}`
  );
}

/**
 * Random keys of a seed, each once: 32 bytes each.
 * @param width the part of the key space that they are from, from its middle on
 */
export function memberKeys(count: number, { seed = 1, width = 1 } = {}): Uint8Array {
  const random = new SeededRandom([seed, 2, 3, 4]);
  const keys = new Uint8Array(count * keyBytes);
  const view = new DataView(keys.buffer);
  const part = BigInt(Math.round(width * 2 ** 32));
  for (let at = 0; at < keys.length; at += keyBytes) {
    for (let word = 0; word < keyBytes; word += 4) view.setUint32(at + word, random.next());
    if (width < 1) view.setBigUint64(at, (1n << 63n) + ((view.getBigUint64(at) * part) >> 32n));
  }
  return keys;
}

/**
 * A store of one list of members, which keeps nothing but their keys: 32 bytes each. A million of them are listed and looked up
 * like records in a file.
 */
export class MemberStore implements AssetStore {
  readonly count: number;
  readonly #keys: Uint8Array;
  readonly #rows = new Map<bigint, number>();

  /** @param keys 32 bytes each, whose first eight are unique */
  constructor(keys: Uint8Array) {
    this.#keys = keys;
    this.count = keys.length / keyBytes;
    const view = new DataView(keys.buffer, keys.byteOffset, keys.byteLength);
    for (let row = 0; row < this.count; row += 1) this.#rows.set(view.getBigUint64(row * keyBytes), row);
  }

  get(id: string): StoredRecord | undefined {
    const key = new Uint8Array(keyBytes);
    putIdBytes(id, key, 0);
    const at = (this.#rows.get(new DataView(key.buffer).getBigUint64(0)) ?? -1) * keyBytes;
    return at < 0 || !Buffer.from(key).equals(this.#keys.subarray(at, at + keyBytes)) ? undefined : stored(id);
  }

  *records(): Generator<StoredRecord> {
    for (let row = 0; row < this.count; row += 1) yield stored(idOfBytes(this.#keys, row * keyBytes));
  }

  close(): Promise<void> {
    this.#rows.clear();
    return Promise.resolve();
  }
}

function stored(id: string): StoredRecord {
  return recordOf(Buffer.from(memberRecord(id)), {});
}
