import { isJsonObject, type Json } from '../../../lib/json/json.ts';
import { assetsTable } from '../columns.ts';
import { type RowBlock, textOfCell } from '../row-block.ts';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { theKernel } from '../../../lib/kernel/kernel.ts';
import { hashRoom } from '../../../lib/kernel/slots.ts';
import { isAssetId, keyBytes, putIdBytes } from '../../../lib/ids/asset-id.ts';

/** Most keys that are remembered: creators, collections and large owners come again and again. */
const mostKeys = 4096;

const known = new Map<string, Uint8Array>();

/** The 32 bytes of a key; undefined for a text that is none. */
function bytesOfAddress(text: string): Uint8Array | undefined {
  const before = known.get(text);
  if (before !== undefined || !isAssetId(text)) return before;
  const bytes = new Uint8Array(keyBytes);
  putIdBytes(text, bytes, 0);
  if (known.size >= mostKeys) known.clear();
  known.set(text, bytes);
  return bytes;
}

/** Bytes to hash, in the chain's encoding: integers little-endian, texts behind their length. */
class HashInput {
  #bytes = Buffer.allocUnsafeSlow(1024);
  #end = 0;

  /** All that was put. Valid until more is put. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#end);
  }

  clear(): this {
    this.#end = 0;
    return this;
  }

  put(bytes: Uint8Array): this {
    const at = this.#advance(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  byte(value: number): this {
    const at = this.#advance(1);
    this.#bytes[at] = value;
    return this;
  }

  /** @param length of the number in bytes */
  integer(value: number, length: number): this {
    const at = this.#advance(length);
    for (let index = 0, rest = value; index < length; index += 1, rest = Math.floor(rest / 256))
      this.#bytes[at + index] = rest % 256;
    return this;
  }

  text(bytes: Uint8Array): this {
    return this.integer(bytes.length, 4).put(bytes);
  }

  /** 1 and the value, or 0 where there is none. */
  option(bytes: Uint8Array | readonly number[] | undefined): this {
    return bytes === undefined ? this.byte(0) : this.byte(1).put(Uint8Array.from(bytes));
  }

  #advance(bytes: number): number {
    const at = this.#end;
    this.#end += bytes;
    if (this.#end > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(this.#end * 2);
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    return at;
  }
}

/** Whether a compressed asset's own values give a hash that its record carries; null where the record lacks what is needed. */
type Verdict = boolean | null;

/** The verdicts of a row, in the order of `proofColumns`. */
export type Verdicts = readonly [creators: Verdict, metadata: Verdict, leaf: Verdict];

const unproven: Verdicts = [null, null, null];

const standards = ['NonFungible', 'FungibleAsset', 'Fungible', 'NonFungibleEdition'];
const useMethods = ['burn', 'multiple', 'single'];

/** Creators as leaves hold them. */
interface HashedCreators {
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly hash: Uint8Array;
}

/** By their JSON text, as collections share theirs; undefined where it says what no leaf can hold. */
const creatorsByText = new Map<string, HashedCreators | undefined>();
const mostCreators = 1024;

/** The members of `compression` that leaves of version 2 have. */
interface LaterLeaf {
  readonly collection: Uint8Array;
  readonly data: Uint8Array;
  readonly flags: number;
}

const inner = new HashInput();
const outer = new HashInput();
const noText = new Uint8Array(0);

/** Computes the hashes of a row of `assets` from its cells. */
export function proveRow(block: RowBlock, row: number): Verdicts {
  const cells = new AssetCells(block, row);
  if (cells.text('compression_compressed') !== 'true') return unproven;
  const creators = creatorsOf(cells.text('creators') ?? '[]');
  const later = laterLeafOf(cells.text('extra') ?? '');
  return [
    verdictOf(cells.text('compression_creator_hash'), (hash) => isSame(creators?.hash, hash)),
    verdictOf(cells.text('compression_data_hash'), (hash) => {
      return creators !== undefined && hasMetadata(cells, creators, later === undefined, hash);
    }),
    verdictOf(cells.text('compression_asset_hash'), (hash) => isSame(leafOf(cells, later), hash), [
      cells.text('compression_data_hash'),
      cells.text('compression_creator_hash'),
    ]),
  ];
}

/** @param needed other hashes without which nothing can be said */
function verdictOf(
  text: string | null,
  agrees: (hash: Uint8Array | undefined) => boolean,
  needed: readonly (string | null)[] = [],
): Verdict {
  return [text, ...needed].some((each) => (each ?? '') === '') ? null : agrees(bytesOfAddress(text ?? ''));
}

const places = new Map(assetsTable.columns.map(({ name }, place) => [name, place]));

/** The cells of one row of `assets`, by the names of their columns. */
class AssetCells {
  readonly #block: RowBlock;
  readonly #base: number;

  constructor(block: RowBlock, row: number) {
    this.#block = block;
    this.#base = row * block.width;
  }

  text(column: string): string | null {
    return textOfCell(this.#block, this.#base + (places.get(column) ?? 0));
  }

  /** UTF-8; empty for null. */
  bytes(column: string): Uint8Array {
    const cell = this.#base + (places.get(column) ?? 0);
    const { source, made, from, length } = this.#block;
    const [at = 0, size = -1] = [from[cell], length[cell]];
    if (size < 0) return noText;
    return at < 0 ? made.subarray(~at, ~at + size) : source.subarray(at, at + size);
  }

  /** NaN where it is no integer from 0 that so many bytes hold; 0 for null. */
  integer(column: string, bytes: number): number {
    const value = Number(this.text(column) ?? '0');
    return Number.isSafeInteger(value) && value >= 0 && value < 256 ** bytes ? value : Number.NaN;
  }

  bit(column: string): number {
    return this.text(column) === 'true' ? 1 : 0;
  }
}

/** Digits beyond a double do not matter here. */
function parsed(text: string): Json {
  return JSON.parse(text) as Json;
}

function creatorsOf(text: string): HashedCreators | undefined {
  if (creatorsByText.has(text)) return creatorsByText.get(text);
  if (creatorsByText.size >= mostCreators) creatorsByText.clear();
  const made = hashCreators(parsed(text));
  creatorsByText.set(text, made);
  return made;
}

function hashCreators(list: Json): HashedCreators | undefined {
  if (!Array.isArray(list)) return undefined;
  inner.clear();
  for (const creator of list) {
    const { address, share, verified } = isJsonObject(creator) ? creator : {};
    const key = typeof address === 'string' ? bytesOfAddress(address) : undefined;
    if (key === undefined || !isByte(share)) return undefined;
    inner
      .put(key)
      .byte(verified === true ? 1 : 0)
      .byte(share);
  }
  const bytes = Uint8Array.from(inner.bytes);
  return { count: list.length, bytes, hash: keccak(bytes) };
}

function isByte(value: Json | undefined): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < 256;
}

/** Version 2 has three members more, which have no columns. */
function laterLeafOf(extra: string): LaterLeaf | undefined {
  if (!extra.includes('"asset_data_hash"')) return undefined;
  const record = parsed(extra);
  const compression = isJsonObject(record) ? record['compression'] : undefined;
  if (!isJsonObject(compression)) return undefined;
  const { collection_hash: collection, asset_data_hash: data, flags } = compression;
  const keys = [collection, data].flatMap((text) => (typeof text === 'string' ? (bytesOfAddress(text) ?? []) : []));
  const [first, second] = keys;
  if (first === undefined || second === undefined || !isByte(flags)) return undefined;
  return { collection: first, data: second, flags };
}

/** Whether the metadata has this hash, with any of the few values that records do not say. */
function hasMetadata(cells: AssetCells, creators: HashedCreators, isFirst: boolean, hash?: Uint8Array): boolean {
  const points = cells.integer('royalty_basis_points', 2);
  const nonce = cells.text('supply_edition_nonce') === null ? undefined : [cells.integer('supply_edition_nonce', 1)];
  const address = cells.text('collection');
  const collection = address === null ? undefined : bytesOfAddress(address);
  if (hash === undefined || (address !== null && collection === undefined)) return false;
  if (Number.isNaN(points) || nonce?.some(Number.isNaN) === true) return false;
  const standard = standards.indexOf(cells.text('content_metadata_token_standard') ?? '');
  // Services name a standard where the leaf has none.
  for (const said of standard < 0 ? [undefined] : [[standard], undefined]) {
    for (const verified of isFirst && collection !== undefined ? verifiedBytes(cells) : [0]) {
      startMetadata(cells, points);
      if (isFirst) inner.option(nonce);
      inner.option(said);
      if (isFirst) {
        inner.option(collection === undefined ? undefined : [verified, ...collection]);
        putUses(cells);
        inner.byte(0);
      }
      inner.integer(creators.count, 4).put(creators.bytes);
      if (!isFirst) inner.option(collection);
      const metadata = keccak(inner.bytes);
      if (isSame(keccak(outer.clear().put(metadata).integer(points, 2).bytes), hash)) return true;
    }
  }
  return false;
}

function startMetadata(cells: AssetCells, points: number): void {
  inner.clear();
  for (const name of ['content_metadata_name', 'content_metadata_symbol', 'content_json_uri'])
    inner.text(cells.bytes(name));
  inner.integer(points, 2).byte(cells.bit('royalty_primary_sale_happened')).byte(cells.bit('mutable'));
}

function putUses(cells: AssetCells): void {
  const method = useMethods.indexOf((cells.text('uses_use_method') ?? '').toLowerCase());
  if (method < 0) inner.byte(0);
  else {
    inner.option([method]);
    for (const name of ['uses_remaining', 'uses_total']) inner.integer(cells.integer(name, 6), 8);
  }
}

/** Whether the first collection is verified: both, where the record does not say. */
function verifiedBytes(cells: AssetCells): number[] {
  const text = cells.text('grouping') ?? '';
  const groups = text.includes('"verified"') ? parsed(text) : [];
  const group = Array.isArray(groups)
    ? groups.find((each) => isJsonObject(each) && each['group_key'] === 'collection')
    : undefined;
  const verified = isJsonObject(group) ? group['verified'] : undefined;
  return typeof verified === 'boolean' ? [verified ? 1 : 0] : [1, 0];
}

/** The hash of the leaf that holds what the record says; undefined where no leaf can. */
function leafOf(cells: AssetCells, later: LaterLeaf | undefined): Uint8Array | undefined {
  const owner = cells.text('ownership_owner') ?? '';
  const texts = ['id', 'compression_data_hash', 'compression_creator_hash'].map((name) => cells.text(name) ?? '');
  const delegate = cells.text('ownership_delegate');
  const [id, data, creators] = texts.map(bytesOfAddress);
  const [ownerKey, delegateKey] = [
    bytesOfAddress(owner),
    bytesOfAddress(delegate === null || delegate === '' ? owner : delegate),
  ];
  const leaf = cells.integer('compression_leaf_id', 6);
  const keys = [id, ownerKey, delegateKey];
  if (keys.includes(undefined) || data === undefined || creators === undefined || Number.isNaN(leaf)) return undefined;
  inner.clear().byte(later === undefined ? 1 : 2);
  for (const key of keys) inner.put(key ?? noText);
  inner.integer(leaf, 8).put(data).put(creators);
  if (later !== undefined) inner.put(later.collection).put(later.data).byte(later.flags);
  return keccak(inner.bytes);
}

function isSame(made: Uint8Array | undefined, hash: Uint8Array | undefined): boolean {
  return made !== undefined && hash !== undefined && Buffer.compare(made, hash) === 0;
}

/** The Keccak-256 of bytes: where there is a kernel and they fit, by it, in a sixth of the time. */
export function keccak(bytes: Uint8Array): Uint8Array {
  const kernel = bytes.length < hashRoom ? theKernel() : undefined;
  if (kernel === undefined) return keccak_256(bytes);
  const at = kernel.run.hashAt();
  kernel.bytes.set(bytes, at);
  kernel.run.keccak(bytes.length);
  return kernel.bytes.slice(at, at + 32);
}
