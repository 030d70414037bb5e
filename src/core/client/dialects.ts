import type { AssetFlags } from './asset-client.ts';

export type AssetFlag = keyof AssetFlags;

/** How a kind of service is spoken to, and what it costs. All of it is data: no code names a provider. */
export interface ServiceDialect {
  /** In messages, plans and manifests; of a file its name. */
  readonly name: string;
  /** Base address, where it is the same for all users. */
  readonly url: string | undefined;
  /** What follows the base address; `{key}` at most once, in a segment or in the value of a query. */
  readonly path: string;
  /** `NAME: {key}`, where the key is in no path. */
  readonly header: string | undefined;
  /** Methods for one id and for many. */
  readonly one: string;
  readonly many: string;
  readonly params: 'positional' | 'named';
  /** The member of named parameters that holds the flags. */
  readonly options: string;
  /** The flags that each method knows, in the order in which they are sent. */
  readonly flagsOne: readonly AssetFlag[];
  readonly flagsMany: readonly AssetFlag[];
  /** Other fields beside the flags that the provider documents and that only add members: `serve` takes them, and adds nothing. */
  readonly ignored: readonly string[];
  /** Most ids a call. */
  readonly idsPerCall: number;
  /** Price of a call of `many`; one of `one` is booked at the same price. */
  readonly creditsPerCall: number;
  /** Where the price was read, and on which day. */
  readonly priced: { readonly source: string; readonly day: string };
  /** When a spent quota is renewed: at 00:00 UTC, when the provider says, or there is none. */
  readonly quota: 'day' | 'month' | 'none';
  /** Texts that mean that a quota is spent, beside those that every service is understood to mean. */
  readonly spentWords: readonly string[];
  /** Undefined where no list is requested of such a service. */
  readonly list: DialectLists | undefined;
}

/** What the members of a list have in common. */
export const listFilters = ['collection', 'owner', 'creator', 'authority', 'tree'] as const;
export type ListFilter = (typeof listFilters)[number];

/** How lists of ids are requested. `params` and `options` are those of the dialect. */
export interface DialectLists {
  /** The method for each filter; undefined: lists of it are refused. */
  readonly collection: string | undefined;
  readonly owner: string | undefined;
  readonly creator: string | undefined;
  readonly authority: string | undefined;
  readonly tree: string | undefined;
  /** The words for rising ids; undefined: none are sent, and the order is the service's own. */
  readonly sort: { readonly sortBy: string; readonly sortDirection: 'asc' | 'desc' } | undefined;
  /** What the next page is requested by: ids as places, the token of an answer, or numbers from 1. */
  readonly next: 'after' | 'cursor' | 'page';
  /** Most members a page. */
  readonly limit: number;
  /** How all members are counted; `getGrouping` counts those of collections alone. */
  readonly total: 'getGrouping' | 'showGrandTotal' | 'none';
  /** `rows`: a source states that the total counts dropped rows, too. */
  readonly totalCounts: 'rows' | undefined;
  /** `token`: a source states that an answer has a token as long as there are rows behind it. */
  readonly ends: 'token' | undefined;
  /** The flags that lists know, in the order in which they are sent; those of an owner know others. */
  readonly flags: readonly AssetFlag[];
  readonly flagsOwner: readonly AssetFlag[];
  /** Price of a page, or of a total. */
  readonly creditsPerPage: number;
}

const inOrder: readonly AssetFlag[] = ['showFungible', 'showUnverifiedCollections', 'showCollectionMetadata'];

const named = {
  params: 'named',
  options: 'options',
  flagsOne: inOrder,
  flagsMany: inOrder,
  // Further options of getAsset.yaml and getAssetsByOwner.yaml in helius-labs/docs, 1554548.
  ignored: ['showInscription', 'showZeroBalance', 'showNativeBalance'],
} as const;

/**
 * Methods of the standard, as the metaplex-foundation/digital-asset-rpc-infrastructure (f1a1ae6d) names them. A page of more than
 * 1,000 members is refused there (das_api/src/api/api_impl.rs).
 */
const listed: DialectLists = {
  collection: 'getAssetsByGroup',
  owner: 'getAssetsByOwner',
  creator: 'getAssetsByCreator',
  authority: 'getAssetsByAuthority',
  tree: undefined,
  sort: undefined,
  next: 'after',
  limit: 1000,
  total: 'none',
  totalCounts: undefined,
  ends: undefined,
  flags: [],
  flagsOwner: [],
  creditsPerPage: 0,
};

/** The words that the reference and metamask have for rising ids. The reference's own direction is descending. */
const risingIds = { sortBy: 'id', sortDirection: 'asc' } as const;

/** Flags of pages: those of helius-labs/docs 3a53273 and of asset-v2.yaml, 9e3be6f1, in alchemyplatform/docs. */
const pageFlags = {
  flags: ['showUnverifiedCollections', 'showCollectionMetadata'],
  flagsOwner: inOrder,
} as const;

/** Docs, service/reference/solana/json-rpc-methods/digital-asset-standard of MetaMask/metamask-docs (357e2840, 5dfa65b5). */
const metamask: ListingDialect = {
  name: 'metamask',
  url: 'https://solana-mainnet.infura.io',
  path: '/v3/{key}',
  header: undefined,
  one: 'getAsset',
  many: 'getAssets',
  params: 'positional',
  options: 'options',
  flagsOne: inOrder,
  flagsMany: ['showFungible', 'showCollectionMetadata'],
  ignored: [],
  idsPerCall: 1000,
  creditsPerCall: 160,
  // services/get-started/pricing/credit-cost.mdx: another stored version says 180 (1939f325).
  priced: { source: 'MetaMask credit costs', day: '2026-11-25' },
  quota: 'day',
  spentWords: [],
  // getassetsbygroup.mdx and its neighbours: documented there, and not in the specification. They state no price; the cost page
  // prices all methods of Solana alike.
  list: { ...listed, sort: risingIds, creditsPerPage: 160 },
};

/** A dialect that lists are requested of. */
export interface ListingDialect extends ServiceDialect {
  readonly list: DialectLists;
}

/** The dialects that are known by name, each as its source states it. The first one is that of the specification. */
export const serviceDialects: readonly ListingDialect[] = [
  metamask,
  {
    // helius-labs/docs 3a53273: billing/credits; 10 credits for every call of the standard, batches alike.
    ...metamask,
    ...named,
    name: 'helius',
    url: 'https://mainnet.helius-rpc.com',
    path: '/?api-key={key}',
    many: 'getAssetBatch',
    creditsPerCall: 10,
    priced: { source: 'Helius credits', day: '2026-01-16' },
    quota: 'month',
    // The same, das/pagination: its default order is by id, for which its enumeration of orders has no word.
    list: { ...listed, ...pageFlags, total: 'showGrandTotal', creditsPerPage: 10 },
  },
  {
    // alchemyplatform/docs 3652a603: src/openrpc/alchemy/solana-das-v2/solana-das-v2.yaml; flags: asset-v2.yaml 9e3be6f1.
    ...metamask,
    ...named,
    name: 'alchemy',
    url: 'https://solana-mainnet.g.alchemy.com',
    path: '/v2/{key}',
    one: 'getAsset_v2',
    many: 'getAssetBatch_v2',
    creditsPerCall: 480,
    priced: { source: 'Alchemy compute units', day: '2026-11-25' },
    quota: 'month',
    // The same files: its enumeration of orders has no word for ids, and before and after go with the default order.
    list: {
      ...listed,
      ...pageFlags,
      collection: 'getAssetsByGroup_v2',
      owner: 'getAssetsByOwner_v2',
      creator: 'getAssetsByCreator_v2',
      authority: 'getAssetsByAuthority_v2',
      total: 'showGrandTotal',
      creditsPerPage: 480,
    },
  },
  {
    // docs.triton.one: 50 USD a million requests, no quota.
    ...metamask,
    ...named,
    name: 'triton',
    url: undefined,
    path: '/{key}',
    creditsPerCall: 1,
    priced: { source: 'Triton prices, in requests', day: '2026-11-25' },
    quota: 'none',
    // docs.triton.one: its enumeration of orders has no word for ids. It states no flags of lists.
    list: { ...listed, creditsPerPage: 1 },
  },
  {
    // metaplex-foundation/digital-asset-rpc-infrastructure f1a1ae6d (2025-05-09): any server that people run themselves.
    ...metamask,
    ...named,
    name: 'reference',
    url: undefined,
    path: '/',
    creditsPerCall: 0,
    priced: { source: 'the reference implementation', day: '2025-05-09' },
    quota: 'none',
    // getGrouping counts dropped and burnt rows, too: digital_asset_types/src/dao/scopes/asset.rs.
    list: {
      ...listed,
      sort: risingIds,
      total: 'getGrouping',
      totalCounts: 'rows',
      flags: inOrder,
      flagsOwner: inOrder,
    },
  },
];

export const defaultDialect = metamask;

/** Whether a service of this dialect wants a key. */
export function takesKey({ path, header = '' }: Pick<ServiceDialect, 'path' | 'header'>): boolean {
  return `${path} ${header}`.includes('{key}');
}
