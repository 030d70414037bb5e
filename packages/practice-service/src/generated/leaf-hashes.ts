import { keccak_256 } from '@noble/hashes/sha3.js';
import { isAssetId, idOfBytes, keyBytes, putIdBytes } from '../../../../src/lib/ids/asset-id.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../../src/lib/json/json.ts';

/** Hashes of a compressed asset, in base58. */
export interface LeafHashes {
  readonly data_hash: string;
  readonly creator_hash: string;
  readonly asset_hash: string;
}

const standards = ['NonFungible', 'FungibleAsset', 'Fungible', 'NonFungibleEdition'];
const useMethods = ['burn', 'multiple', 'single'];

/** What the tree holds of a record: its metadata, its creators and its leaf. Undefined for one that is not compressed. */
export function leafHashesOf(record: JsonObject): LeafHashes | undefined {
  const compression = object(record['compression']);
  if (compression['compressed'] !== true) return undefined;
  const creators = list(record['creators']).map((creator) =>
    Buffer.concat([
      key(creator['address']),
      integer(creator['verified'] === true ? 1 : 0, 1),
      integer(creator['share'], 1),
    ]),
  );
  const isLater = compression['asset_data_hash'] !== undefined;
  const points = integer(object(record['royalty'])['basis_points'], 2);
  const data = hash(hash(isLater ? laterMetadata(record, creators) : firstMetadata(record, creators)), points);
  const creator = hash(...creators);
  const { owner, delegate } = object(record['ownership']);
  const keys = [record['id'], owner, delegate ?? owner].map(key);
  const later = isLater
    ? [key(compression['collection_hash']), key(compression['asset_data_hash']), integer(compression['flags'], 1)]
    : [];
  const leaf = integer(compression['leaf_id'], 8);
  const asset = hash(integer(isLater ? 2 : 1, 1), ...keys, leaf, data, creator, ...later);
  return { data_hash: idOfBytes(data), creator_hash: idOfBytes(creator), asset_hash: idOfBytes(asset) };
}

/** Has a record carry the hashes of what it says. */
export function putLeafHashes(record: JsonObject): void {
  Object.assign(object(record['compression']), leafHashesOf(record));
}

function firstMetadata(record: JsonObject, creators: readonly Buffer[]): Buffer {
  const { use_method: method, remaining, total } = object(record['uses']);
  const nonce = object(record['supply'])['edition_nonce'] ?? null;
  const group = collectionOf(record);
  const used = placeOf(useMethods, method);
  return Buffer.concat([
    ...opening(record),
    option(nonce === null ? undefined : integer(nonce, 1)),
    standardOf(record),
    option(group && Buffer.concat([integer(group['verified'] === false ? 0 : 1, 1), key(group['group_value'])])),
    option(used < 0 ? undefined : Buffer.concat([integer(used, 1), integer(remaining, 8), integer(total, 8)])),
    integer(0, 1),
    integer(creators.length, 4),
    ...creators,
  ]);
}

function laterMetadata(record: JsonObject, creators: readonly Buffer[]): Buffer {
  const group = collectionOf(record);
  return Buffer.concat([
    ...opening(record),
    standardOf(record),
    integer(creators.length, 4),
    ...creators,
    option(group && key(group['group_value'])),
  ]);
}

function opening(record: JsonObject): Buffer[] {
  const content = object(record['content']);
  const { name, symbol } = object(content['metadata']);
  const { basis_points: points, primary_sale_happened: sold } = object(record['royalty']);
  const flags = [sold, record['mutable']].map((flag) => integer(flag === true ? 1 : 0, 1));
  return [...[name, symbol, content['json_uri']].map(text), integer(points, 2), ...flags];
}

function standardOf(record: JsonObject): Buffer {
  const standard = placeOf(standards, object(object(record['content'])['metadata'])['token_standard']);
  return option(standard < 0 ? undefined : integer(standard, 1));
}

function placeOf(names: readonly string[], name: Json | undefined): number {
  return typeof name === 'string' ? names.findIndex((each) => each.toLowerCase() === name.toLowerCase()) : -1;
}

function collectionOf(record: JsonObject): JsonObject | undefined {
  const group = list(record['grouping']).find((each) => each['group_key'] === 'collection');
  return typeof group?.['group_value'] === 'string' ? group : undefined;
}

function hash(...pieces: readonly Uint8Array[]): Buffer {
  return Buffer.from(keccak_256(Buffer.concat(pieces)));
}

function option(value: Buffer | undefined): Buffer {
  return value === undefined ? integer(0, 1) : Buffer.concat([integer(1, 1), value]);
}

function text(value: Json | undefined): Buffer {
  const bytes = Buffer.from(typeof value === 'string' ? value : '');
  return Buffer.concat([integer(bytes.length, 4), bytes]);
}

/** Little-endian. */
function integer(value: Json | undefined, bytes: number): Buffer {
  const number = Buffer.alloc(8);
  number.writeBigUInt64LE(BigInt(typeof value === 'number' ? value : 0));
  return number.subarray(0, bytes);
}

function key(value: Json | undefined): Buffer {
  const bytes = Buffer.alloc(keyBytes);
  if (typeof value === 'string' && isAssetId(value)) putIdBytes(value, bytes, 0);
  return bytes;
}

function object(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function list(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
