import { isAssetId } from '../../../src/lib/ids/asset-id.ts';
import { invalidParams, methodNotFound, type ErrorObject } from './json-rpc.ts';
import type { ShowFlags } from './store/stored-record.ts';

/** A call of one of the two methods, with parameters that are in order. */
export interface AssetQuery {
  readonly method: 'getAsset' | 'getAssets';
  /** One for `getAsset`; for `getAssets` as requested, repeats included. */
  readonly ids: readonly string[];
  readonly show: ShowFlags & { readonly showUnverifiedCollections: boolean };
}

/** The members that `config` of each method may have (specification, section 4). */
const flagsOf = {
  getAsset: ['showFungible', 'showUnverifiedCollections', 'showCollectionMetadata'],
  getAssets: ['showFungible', 'showCollectionMetadata'],
} as const;

/** Reads method and positional parameters. The first thing wrong is the error, and nothing of the call is done. */
export function readQuery(method: string, params: unknown, maxIds: number): AssetQuery | ErrorObject {
  if (method !== 'getAsset' && method !== 'getAssets') return methodNotFound;
  if (!Array.isArray(params)) return invalidParams('expected an array of positional parameters');
  if (params.length === 0 || params.length > 2) return invalidParams('expected one or two parameters');
  const [first, config] = params as unknown[];
  const show = readConfig(method, config);
  if ('code' in show) return show;
  const ids = method === 'getAsset' ? readOne(first) : readMany(first, maxIds);
  if ('code' in ids) return ids;
  const invalid = ids.find((id) => !isAssetId(id));
  return invalid === undefined ? { method, ids, show } : pubkeyInvalid(invalid);
}

/** As the open implementations of these methods word it. */
export function pubkeyInvalid(id: string): ErrorObject {
  return { code: -32000, message: `Pubkey Validation Err: ${id.slice(0, 200)} is invalid` };
}

/** True for the error of a malformed key. */
export function isKeyError(error: ErrorObject): boolean {
  return error.message.startsWith('Pubkey Validation Err: ');
}

export function tooManyIds(maxIds: number): ErrorObject {
  return { code: -32602, message: `Batch Size Error. Batch size should not be greater than ${maxIds}.` };
}

export const assetNotFound: ErrorObject = {
  code: -32000,
  message: 'Database Error: RecordNotFound Error: Asset Not Found',
};

function readOne(id: unknown): readonly string[] | ErrorObject {
  return typeof id === 'string' ? [id] : invalidParams('id must be a string');
}

function readMany(ids: unknown, maxIds: number): readonly string[] | ErrorObject {
  if (!Array.isArray(ids)) return invalidParams('ids must be an array of strings');
  if (ids.length > maxIds) return tooManyIds(maxIds);
  const strings = ids.filter((id) => typeof id === 'string');
  return strings.length === ids.length ? strings : invalidParams('ids must be an array of strings');
}

function readConfig(method: keyof typeof flagsOf, config: unknown): AssetQuery['show'] | ErrorObject {
  const show = { showFungible: false, showCollectionMetadata: false, showUnverifiedCollections: false };
  if (config === undefined || config === null) return show;
  if (typeof config !== 'object' || Array.isArray(config)) return invalidParams('config must be an object');
  for (const [name, value] of Object.entries(config)) {
    const flag = flagsOf[method].find((known) => known === name);
    if (flag === undefined) return invalidParams(`unknown field ${JSON.stringify(name.slice(0, 100))} in config`);
    if (typeof value !== 'boolean') return invalidParams(`${flag} must be a boolean`);
    show[flag] = value;
  }
  return show;
}
