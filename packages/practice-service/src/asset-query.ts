import { isAssetId } from '../../../src/lib/ids/asset-id.ts';
import { invalidParams, methodNotFound, type ErrorObject } from './json-rpc.ts';
import type { SpokenDialect, ShowFlag } from './dialect.ts';
import type { ShowFlags } from './store/stored-record.ts';

/** A call of one of the two methods, with parameters that are in order. */
export interface AssetQuery {
  readonly method: 'getAsset' | 'getAssets';
  /** One for `getAsset`; for `getAssets` as requested, repeats included. */
  readonly ids: readonly string[];
  readonly show: ShowFlags & { readonly showUnverifiedCollections: boolean };
}

export interface QueryRules {
  readonly maxIds: number;
  readonly dialect: SpokenDialect;
}

/** Reads method and parameters. The first thing wrong is the error, and nothing of the call is done. */
export function readQuery(method: string, params: unknown, { maxIds, dialect }: QueryRules): AssetQuery | ErrorObject {
  if (method !== dialect.one && method !== dialect.many) return methodNotFound;
  const isOne = method === dialect.one;
  const given = dialect.params === 'named' ? namedParams(params, isOne, dialect) : positionalParams(params);
  if ('code' in given) return given;
  const show = readConfig(isOne ? dialect.flagsOne : dialect.flagsMany, given.config, dialect.ignored);
  if ('code' in show) return show;
  const ids = isOne ? readOne(given.asked) : readMany(given.asked, maxIds);
  if ('code' in ids) return ids;
  const invalid = ids.find((id) => !isAssetId(id));
  return invalid === undefined ? { method: isOne ? 'getAsset' : 'getAssets', ids, show } : pubkeyInvalid(invalid);
}

interface Params {
  readonly asked: unknown;
  readonly config: unknown;
}

function positionalParams(params: unknown): Params | ErrorObject {
  if (!Array.isArray(params)) return invalidParams('expected an array of positional parameters');
  if (params.length === 0 || params.length > 2) return invalidParams('expected one or two parameters');
  const [asked, config] = params as unknown[];
  return { asked, config };
}

/** Of flags some servers know a second name. */
const otherName = 'displayOptions';

function namedParams(params: unknown, isOne: boolean, { options }: SpokenDialect): Params | ErrorObject {
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    return invalidParams('expected an object of named parameters');
  const wanted = isOne ? 'id' : 'ids';
  const given = new Map<string, unknown>(Object.entries(params));
  for (const name of given.keys())
    if (![wanted, options, otherName].includes(name))
      return invalidParams(`unknown field ${JSON.stringify(name.slice(0, 100))}`);
  return { asked: given.get(wanted), config: given.get(options) ?? given.get(otherName) };
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

export function readConfig(
  flags: readonly ShowFlag[],
  config: unknown,
  ignored: readonly string[],
): AssetQuery['show'] | ErrorObject {
  const show = { showFungible: false, showCollectionMetadata: false, showUnverifiedCollections: false };
  if (config === undefined || config === null) return show;
  if (typeof config !== 'object' || Array.isArray(config)) return invalidParams('config must be an object');
  for (const [name, value] of Object.entries(config)) {
    if (ignored.includes(name)) continue;
    const flag = flags.find((known) => known === name);
    if (flag === undefined) return invalidParams(`unknown field ${JSON.stringify(name.slice(0, 100))} in config`);
    if (typeof value !== 'boolean') return invalidParams(`${flag} must be a boolean`);
    show[flag] = value;
  }
  return show;
}
