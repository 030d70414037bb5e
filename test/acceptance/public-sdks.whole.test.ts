import { describe, expect, it } from 'vitest';
import { serviceDialects } from '../../src/core/client/dialects.ts';
import { generatedId } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { serve } from '../service/local-service.ts';
import { enginePackage } from '../wings/warehouse/engines/engine-packages.ts';

/*
 * Two public SDKs work against the service of their dialect: what serve takes is what is sent in the field. `npm run engines`
 * installs them. Of umi the asset plugin alone: its RPC client depends on a package under the LGPL, so a call is sent here.
 */

interface Listed {
  readonly total: number;
  readonly items: readonly { readonly id: string }[];
  readonly cursor?: string;
  readonly grand_total?: number;
}

interface Umi {
  rpc: object;
  use(plugin: unknown): Umi;
}

interface UmiRpc {
  getAsset(id: string): Promise<{ readonly id: string }>;
  getAssets(input: object): Promise<readonly (object | null)[]>;
  getAssetsByGroup(input: object): Promise<Listed>;
  getAssetsByOwner(input: object): Promise<Listed>;
  getGrouping(input: object): Promise<{ readonly group_size: number }>;
}

interface Helius {
  getAsset(params: object): Promise<{ readonly id: string }>;
  getAssetBatch(params: object): Promise<readonly (object | null)[]>;
  getAssetsByGroup(params: object): Promise<Listed>;
  getAssetsByCreator(params: object): Promise<Listed>;
}

const untested = 'the SDK is not tested';
const umiPackage = enginePackage('@metaplex-foundation/umi', untested) as { createBaseUmi(): Umi } | undefined;
const assetPlugin = enginePackage('@metaplex-foundation/digital-asset-standard-api', untested) as
  | { dasApi(): unknown }
  | undefined;
const heliusSdk = enginePackage('helius-sdk', untested) as
  | { createHelius(options: { readonly apiKey: string; readonly baseUrl: string }): Helius }
  | undefined;

const [group, owner, creator, absent] = [90, 91, 92, 93].map((n) => generatedId(9, n)) as [
  string,
  string,
  string,
  string,
];
const ids = Array.from({ length: 5 }, (_, n) => generatedId(9, n));
const records = ids.map(
  (id) =>
    `{"interface":"FungibleAsset","id":"${id}","grouping":[{"group_key":"collection","group_value":"${group}","collection_metadata":{"name":"x"}}],` +
    `"ownership":{"owner":"${owner}"},"creators":[{"address":"${creator}","verified":true}],"token_info":{"supply":7}}`,
);
const [first = '', second = ''] = ids;

function dialectNamed(name: string) {
  const dialect = serviceDialects.find((each) => each.name === name);
  if (dialect === undefined) throw new Error(`no dialect ${name}`);
  return dialect;
}

function idsOf({ items }: Listed): string[] {
  return items.map(({ id }) => id);
}

describe.skipIf(umiPackage === undefined || assetPlugin === undefined)('umi with its asset plugin', () => {
  async function connected(): Promise<UmiRpc> {
    const service = await serve(records, { dialect: dialectNamed('reference') });
    const call = async (method: string, params: unknown): Promise<unknown> => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 'umi', method, params });
      const response = await fetch(service.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      const { result, error } = (await response.json()) as {
        readonly result?: unknown;
        readonly error?: { message: string };
      };
      if (error !== undefined) throw new Error(error.message);
      return result;
    };
    const umi = umiPackage?.createBaseUmi();
    if (umi === undefined) throw new Error('no umi');
    umi.rpc = { ...umi.rpc, call };
    return umi.use(assetPlugin?.dasApi()).rpc as UmiRpc;
  }

  it('gets an asset, and many with one that is missing, with the flags that it sets', async () => {
    const rpc = await connected();
    expect(await rpc.getAsset(first)).toMatchObject({ id: first });
    await expect(rpc.getAsset(absent)).rejects.toThrow('Asset Not Found');
    const bare = await rpc.getAssets({ assetIds: [first, absent, second] });
    expect(bare).toEqual([expect.objectContaining({ id: first }), null, expect.objectContaining({ id: second })]);
    expect(JSON.stringify(bare)).not.toMatch(/token_info|collection_metadata/);
    const displayOptions = { showFungible: true, showCollectionMetadata: true };
    expect(await rpc.getAssets({ assetIds: [first], displayOptions })).toEqual([JSON.parse(records[0] ?? '')]);
  });

  it('lists a collection in two pages, by tokens and by places, and counts it', async () => {
    const rpc = await connected();
    const sortBy = { sortBy: 'id', sortDirection: 'asc' };
    const asked = { groupKey: 'collection', groupValue: group, limit: 3, sortBy };
    const one = await rpc.getAssetsByGroup(asked);
    const two = await rpc.getAssetsByGroup({ ...asked, cursor: one.cursor });
    expect([...idsOf(one), ...idsOf(two)].toSorted()).toEqual(ids.toSorted());
    expect([one.total, two.total]).toEqual([3, 2]);
    expect(idsOf(await rpc.getAssetsByGroup({ ...asked, after: idsOf(one).at(-1) }))).toEqual(idsOf(two));
    expect(idsOf(await rpc.getAssetsByGroup({ ...asked, page: 2 }))).toEqual(idsOf(two));
    expect((await rpc.getGrouping({ groupKey: 'collection', groupValue: group })).group_size).toBe(5);
    // The reference's own order falls.
    expect(idsOf(await rpc.getAssetsByOwner({ owner, limit: 2 }))).toEqual(idsOf(two).toReversed());
  });
});

describe.skipIf(heliusSdk === undefined)('helius-sdk', () => {
  async function connected(): Promise<Helius> {
    const dialect = dialectNamed('helius');
    const service = await serve(records, { dialect, apiKeys: ['key'] });
    const helius = heliusSdk?.createHelius({ apiKey: 'key', baseUrl: `${service.url}/` });
    if (helius === undefined) throw new Error('no SDK');
    return helius;
  }

  it('gets an asset, and many with one that is missing, with the flags that it sets', async () => {
    const helius = await connected();
    expect(await helius.getAsset({ id: first })).toMatchObject({ id: first });
    const bare = await helius.getAssetBatch({ ids: [first, absent, second] });
    expect(bare).toEqual([expect.objectContaining({ id: first }), null, expect.objectContaining({ id: second })]);
    expect(JSON.stringify(bare)).not.toMatch(/token_info|collection_metadata/);
    const options = { showFungible: true, showCollectionMetadata: true };
    expect(await helius.getAssetBatch({ ids: [first], options })).toEqual([JSON.parse(records[0] ?? '')]);
  });

  it('lists a collection in two pages, with its total', async () => {
    const helius = await connected();
    const asked = { groupKey: 'collection', groupValue: group, limit: 3 };
    const one = await helius.getAssetsByGroup({ ...asked, page: 1, options: { showGrandTotal: true } });
    const two = await helius.getAssetsByGroup({ ...asked, page: 2 });
    expect([...idsOf(one), ...idsOf(two)].toSorted()).toEqual(ids.toSorted());
    expect(one).toMatchObject({ total: 3, grand_total: 5 });
    expect(idsOf(await helius.getAssetsByGroup({ ...asked, after: idsOf(one).at(-1) }))).toEqual(idsOf(two));
    expect(
      idsOf(await helius.getAssetsByCreator({ creatorAddress: creator, onlyVerified: true, page: 1 })),
    ).toHaveLength(5);
  });
});
